-- A policy that lets write says what may be written.
-- breaks: create policy planted on lenses.workflows for update to authenticated using (lenser_id = (select lensers.get_auth_lenser_id()))
select p.identity from our_policies as p where p.polcmd in ('*', 'a', 'w') and p.check_text = ''
