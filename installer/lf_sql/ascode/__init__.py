"""Schedules as code: a file read, held against the database, applied; and written from it."""
