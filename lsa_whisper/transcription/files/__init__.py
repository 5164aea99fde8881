"""A recording on disk -> its transcript on disk: written atomically, by one call at a time, and never twice."""
