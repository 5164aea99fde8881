"""The generator of storybook: conversations of synthetic voices whose disfluencies can be heard and timed exactly.

Rebuilding needs the system's espeak-ng and flite libraries; using the corpus needs neither.
"""
