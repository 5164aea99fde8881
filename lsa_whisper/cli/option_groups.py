"""Commands with many options: their help shows the everyday ones first, and the others by what they are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click


class GroupedCommand(click.Command):
    """A command whose help lists its options in groups; an option that is in none comes last."""

    def __init__(self, *args: Any, groups: Mapping[str, Sequence[str]], **settings: Any):
        """Take the names of the parameters of each group by its title, in order."""
        super().__init__(*args, **settings)
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section for each group."""
        shown = {each.name: row for each in self.get_params(ctx) if (row := each.get_help_record(ctx))}
        for title, names in self.groups.items():
            with formatter.section(title):
                formatter.write_dl([shown.pop(name) for name in names])
        if shown:
            with formatter.section("Other options"):
                formatter.write_dl([*shown.values()])
