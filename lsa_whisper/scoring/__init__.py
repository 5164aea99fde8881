"""Scores of a hypothesis against a reference: alignment, counts that add, rates and their confidence intervals."""
