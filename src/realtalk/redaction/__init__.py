"""A corpus without the people in it: see `redact`."""
