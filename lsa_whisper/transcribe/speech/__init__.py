"""Sound -> where somebody speaks -> windows no longer than the model's context."""
