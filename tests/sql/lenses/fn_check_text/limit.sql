begin;
select plan(4);

select lives_ok($$select lenses.fn_check_text(null, 'note', 3)$$, 'NULL is within every limit');
select lives_ok($$select lenses.fn_check_text('äöü', 'note', 3)$$, 'characters, not bytes');
select throws_ok(
  $$select lenses.fn_check_text('äöüß', 'note', 3)$$, '22023', 'note is longer than 3 characters: "äöüß…"', 'one too many'
);
select throws_ok(
  $$select lenses.fn_check_text(repeat('x', 100), 'note', 3)$$, '22023',
  'note is longer than 3 characters: "' || repeat('x', 40) || '…"', 'a message is short'
);

select * from finish();
rollback;
