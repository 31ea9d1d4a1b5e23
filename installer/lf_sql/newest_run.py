"""What the last run of a schedule is, in every list: the newest, whatever started it."""

from __future__ import annotations

# In a query over lenses.workflow_schedules as s; public.fn_observe_schedules() says the same.
JOIN = """left join lateral (
  select n.status, n.trigger_mode, n.created_at, n.started_at, n.completed_at
  from lenses.workflow_runs as n
  where n.schedule_id = s.id and n.lenser_id = s.lenser_id
  order by n.created_at desc, n.scheduled_for desc nulls first, n.id
  limit 1
) as r on true"""
# When it took the status that it has.
MOVED = "coalesce(r.completed_at, r.started_at, r.created_at)"
