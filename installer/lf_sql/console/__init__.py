"""The local web page: one tenant, one address, the same RPCs and roles as everyone else."""
