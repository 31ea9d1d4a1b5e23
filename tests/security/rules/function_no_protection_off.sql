-- Nothing switches a protection off, or leaves a setting behind in the session.
-- breaks: alter function lensers.fn_require_lenser() set row_security = off
select f.identity
from our_functions as f
where f.body ~ '(row_security|session_replication_role|disable\s+trigger|set\s+(local\s+|session\s+)?(role|session)\M|set_config\s*\([^;]*,\s*false\s*\))'
  or f.proconfig::text ~ '(row_security|session_replication_role|"?role=|check_function_bodies)'
