"""The generator of storybook: conversations of synthetic voices, with disfluencies at exactly known times.

Rebuilding needs the system's espeak-ng and flite libraries; using the corpus needs neither.
"""
