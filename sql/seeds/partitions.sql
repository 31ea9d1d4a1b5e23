-- Days of events and logs that are there already get what keeps them apart, should it be lost.
select lenses.fn_guard_partition(p.part)
from lenses.fn_partitions() as p
where p.part::text ~ '_[0-9]{8}$';
