-- Who calls is asked once a statement, not once a row.
-- breaks: create policy planted on lenses.workflows for select to authenticated using (lenser_id = lensers.get_auth_lenser_id())
select p.identity
from our_policies as p
where replace(
  p.using_text || p.check_text, '( SELECT lensers.get_auth_lenser_id() AS get_auth_lenser_id)', ''
) ~ 'get_auth_lenser_id|current_setting|current_user'
