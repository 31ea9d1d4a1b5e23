"""The RPCs of `public`, called as PostgREST calls them: role and claims are the transaction's own."""
