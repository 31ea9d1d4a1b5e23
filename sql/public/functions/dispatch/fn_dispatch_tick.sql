-- One tick in one transaction, by the server's clock, for drivers that reach only functions (an
-- edge function on a timer, say).
create or replace function public.fn_dispatch_tick()
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return lenses.fn_dispatch_scheduled_workflows(null, null);
end;
$$;

comment on function public.fn_dispatch_tick() is
  'service_role: one tick in one transaction. Returns the runs inserted; 0 while frozen.';
