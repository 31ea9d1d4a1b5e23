begin;
select plan(6);

select is(lenses.fn_closest_word(w, array['maxRetries', 'backoffMs', 'retryOn', 'timeoutMs']), n, w)
from (values
  ('maxRetry', 'maxRetries'), ('MAX_RETRIES', 'maxRetries'), ('backOff', 'backoffMs'),
  ('timeout', 'timeoutMs'), ('retry-on', 'retryOn')
) t (w, n);
select is(lenses.fn_closest_word('x', '{}'), null, 'nothing is known, nothing is near');

select * from finish();
rollback;
