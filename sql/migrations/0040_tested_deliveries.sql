-- Which test of a delivery arrived: its event is gone from the outbox by then.
alter table lenses.deliveries add column tested_id bigint;

comment on column lenses.deliveries.tested_id is 'The newest event of type delivery.test that was delivered, or acknowledged.';
