-- owner: lf_sql_engine
-- Raises 22023 where the keys of a delivery contradict each other, before a constraint refuses the
-- row in less readable words.
create or replace function lenses.fn_check_delivery(p_delivery lenses.deliveries)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_delivery.url !~ '^https?://[^/@[:space:][:cntrl:]]+(/[^[:space:][:cntrl:]]*)?$'
    or char_length(p_delivery.url) > 2000
  then
    raise exception using
      errcode = '22023',
      column = 'url',
      message = format(
        'delivery.url is not an http or https address: "%s"',
        left(regexp_replace(p_delivery.url, '[[:cntrl:]]', '?', 'g'), 60)
      ),
      hint = 'Write it as https://host/path, without a user; passwords go into headers.';
  elsif cardinality(p_delivery.sends) = 0 then
    raise exception using
      errcode = '22023',
      column = 'sends',
      message = 'delivery.sends is empty',
      hint = 'To stop it set is_active to false.';
  elsif p_delivery.url is null and 'runs' = any (p_delivery.sends) then
    raise exception using
      errcode = '22023',
      column = 'url',
      message = format('delivery "%s" sends runs and has no url', p_delivery.name),
      hint = 'Name the url, or events in sends; without a url a consumer '
        || 'claims events by lenses.fn_claim_events and runs by lenses.fn_claim_workflow_runs.';
  elsif p_delivery.lease_ms <= p_delivery.timeout_ms then
    raise exception using
      errcode = '22023',
      column = 'lease_ms',
      message = format(
        'delivery.lease_ms is %s, no more than timeout_ms, %s',
        p_delivery.lease_ms, p_delivery.timeout_ms
      ),
      hint = 'An answer must come before the lease ends.';
  elsif p_delivery.workflow_id is not null and not exists (
    select from lenses.workflows as w where w.id = p_delivery.workflow_id
  ) then
    raise exception using
      errcode = '23503',
      column = 'workflow_id',
      message = format('delivery.workflow_id: there is no workflow "%s"', p_delivery.workflow_id),
      hint = 'Leave it out, or null, for all workflows.';
  end if;
end;
$$;
