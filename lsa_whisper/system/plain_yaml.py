"""Plain YAML (mappings, lists, text and numbers), parsed quickly and in bounded memory for any input.

YAML allows more than a recipe or a corpus card needs, and some of it is harmful: nested aliases expand to billions of
values, deep nesting overflows the stack, tags construct objects, numbers have a million digits. All of these are
rejected, and so is a key that is there twice. Dates stay text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

_MAX_BYTES = 1 << 19
_MAX_DEPTH = 32
_MAX_DIGITS = 40
_DATE = "tag:yaml.org,2002:timestamp"
_NULL = "tag:yaml.org,2002:null"
_OTHER_BASE = re.compile(r"[-+]?0[0-9_]|.*:")
"""Octal numbers, and minutes and seconds: who writes 010 or 1:30 does not mean 8 or 90."""


def parse(text: str, *, as_text: bool = False) -> Any:
    r"""Return the value of a YAML text; with ``as_text``, every scalar as its source text.

    YAML reads an unquoted 010 as the number eight and an unquoted no as false, but both may be names of speakers.

    >>> parse("{rank: 8, since: 2001-01-01, targets: [q_proj]}")
    {'rank': 8, 'since': '2001-01-01', 'targets': ['q_proj']}
    >>> parse("{dev: [010, no, 1.50], test: }", as_text=True)
    {'dev': ['010', 'no', '1.50'], 'test': None}
    >>> parse("a: &a [x]\nb: *a")
    Traceback (most recent call last):
    ...
    yaml.error.YAMLError: line 2, column 4: aliases such as *a are not supported; write the value out

    Raises:
        yaml.YAMLError: The text is not YAML, or uses what is not supported.
    """
    if len(text) > _MAX_BYTES:
        raise yaml.YAMLError(f"more than {_MAX_BYTES >> 10} KB of text; is this the right file?")
    try:
        return yaml.load(text, Loader=_TextLoader if as_text else _Loader)
    except yaml.MarkedYAMLError as error:  # its own text names a "<unicode string>", and quotes the line
        mark, said = error.problem_mark or error.context_mark, ": ".join(filter(None, (error.context, error.problem)))
        raise yaml.YAMLError(f"line {mark.line + 1}, column {mark.column + 1}: {said}" if mark else said) from error
    except yaml.reader.ReaderError as error:
        raise yaml.YAMLError(
            f"an unreadable character at position {error.position}; is this the right file?"
        ) from error
    except ValueError as error:  # a number such as 0x_
        raise yaml.YAMLError(str(error)) from error


def read(path: Path) -> str:
    """Return the text of the file at ``path`` for :func:`parse`, of an endless file only as much as it accepts.

    Raises:
        OSError: The file cannot be opened.
        yaml.YAMLError: The file is not UTF-8.
    """
    with path.open("rb") as file:
        data = file.read(4 * _MAX_BYTES + 4)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise yaml.YAMLError("not UTF-8 text") from error


class _Loader(yaml.SafeLoader):
    _depth = 0
    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own interface
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _DATE]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise _refused(f"aliases such as *{event.anchor} are not supported; write the value out", event)
        if event.tag is not None:
            raise _refused(f"tags such as {event.tag} are not supported; remove it", event)
        if self._depth == _MAX_DEPTH:
            raise _refused(f"nested more than {_MAX_DEPTH} deep", event)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        first: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and first.setdefault(key.value, key) is not key:
                line = first[key.value].start_mark.line + 1
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value} is there twice, first in line {line}; remove one", key.start_mark
                )
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        if len(node.value) > _MAX_DIGITS:
            raise yaml.constructor.ConstructorError(None, None, "a number with too many digits", node.start_mark)
        if _OTHER_BASE.match(node.value):
            value = super().construct_yaml_int(node)
            raise yaml.constructor.ConstructorError(
                None, None, f"YAML reads {node.value} as {value}; write that, or put it in quotes", node.start_mark
            )
        return super().construct_yaml_int(node)


class _TextLoader(_Loader):
    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own interface
        "": [(_NULL, re.compile(""))],
        "~": [(_NULL, re.compile("~$"))],
    }


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def _refused(message: str, event: Any) -> yaml.YAMLError:
    return yaml.composer.ComposerError(None, None, message, event.start_mark)
