-- Sum of two objects of counts, key by key.
create or replace function lenses.fn_add_counts(p_a jsonb, p_b jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_b = '{}' then
    return p_a;
  end if;
  return (
    select jsonb_object_agg(q.key, q.total)
    from (
      select e.key, sum(e.value::numeric) as total
      from (
        select * from jsonb_each_text(p_a) union all select * from jsonb_each_text(p_b)
      ) as e
      group by e.key
    ) as q
  );
end;
$$;
