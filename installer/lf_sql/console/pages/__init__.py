"""One module a page: its queries, its actions, its routes."""
