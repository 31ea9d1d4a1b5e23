-- No policy is for PUBLIC.
-- breaks: create policy planted on lenses.workflows for select using (lenser_id = (select lensers.get_auth_lenser_id()))
select p.identity from our_policies as p where 0 = any(p.polroles)
