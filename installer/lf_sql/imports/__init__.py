"""What other schedulers have, as a file for `lf-sql apply`; what is refused is in it, with why."""
