"""Words that fluent speakers say twice on purpose."""

EMPHATIC = frozenset(("very", "really", "bye", "no", "yeah", "yes", "ha", "so", "night", "there", "knock", "choo"))
"""Words that fluent speakers repeat for emphasis."""
