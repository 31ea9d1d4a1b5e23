"""What a person sees on a terminal: times in words, tables that fit, one row at length."""
