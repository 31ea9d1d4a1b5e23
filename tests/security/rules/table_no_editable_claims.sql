-- Nobody is authorised by claims that a user may edit.
-- breaks: create policy planted on lenses.workflows for select to authenticated using (((select current_setting('request.jwt.claims', true))::jsonb #>> '{user_metadata,admin}') = 'yes')
select p.identity from our_policies as p where p.using_text || p.check_text ~ 'user_metadata|raw_user_meta|jwt'
union all
select f.identity from our_functions as f
where f.body ~ 'user_metadata|raw_user_meta' or (f.body ~ 'request\.jwt' and f.proname <> 'fn_auth_user_id')
