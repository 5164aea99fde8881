"""A recording on disk -> its transcript on disk, once, whole, and by one call at a time; and what is told of it."""
