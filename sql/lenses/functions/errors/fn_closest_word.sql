-- The word of p_known that p_word was probably meant to be; for error messages, never for
-- decisions. Smallest edit distance for its length, blind to case, blanks, "_" and "-"
-- (max_retries is maxRetries); the first of equals wins. Looks at 40 characters a word, so that its
-- cost is bounded whatever a caller sends.
create or replace function lenses.fn_closest_word(p_word text, p_known text[])
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word text := left(translate(lower(left(coalesce(p_word, ''), 80) collate "C"), '_- ', ''), 40);
  v_known text;
  v_other text;
  v_row int[];
  v_next int[];
  v_score numeric;
  v_best numeric;
  v_nearest text;
begin
  foreach v_known in array p_known loop
    v_other := left(translate(lower(v_known collate "C"), '_- ', ''), 40);
    v_row := array(select generate_series(0, length(v_other)));
    for i in 1 .. length(v_word) loop
      v_next := array[i];
      for j in 1 .. length(v_other) loop
        v_next[j + 1] := least(
          v_next[j] + 1,
          v_row[j + 1] + 1,
          v_row[j] + (substr(v_word, i, 1) <> substr(v_other, j, 1))::int
        );
      end loop;
      v_row := v_next;
    end loop;
    v_score := v_row[length(v_other) + 1]::numeric / greatest(length(v_word), length(v_other), 1);
    if v_best is null or v_score < v_best then
      v_best := v_score;
      v_nearest := v_known;
    end if;
  end loop;
  return v_nearest;
end;
$$;

comment on function lenses.fn_closest_word(text, text[]) is
  'The word of p_known nearest to p_word by edit distance, for error messages; NULL if p_known is '
  'empty.';
