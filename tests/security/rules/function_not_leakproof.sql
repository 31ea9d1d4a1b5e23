-- No function may run before a policy's own condition.
-- breaks: alter function lensers.fn_require_lenser() leakproof
select f.identity from our_functions as f where f.proleakproof
