"""``cached_attribute``: an attribute computed on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached_attribute(Generic[Value]):  # noqa: N801 - used as a decorator, like property
    """Attribute computed on first access and cached: ``functools.cached_property`` without its lock.

    Before Python 3.12 the lock costs 6 microseconds per attribute, a large part of parsing an utterance.
    """

    def __init__(self, compute: Callable[[Any], Value]):
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> cached_attribute[Value]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> Value: ...

    def __get__(self, owner: object | None, kind: type) -> cached_attribute[Value] | Value:
        if owner is None:
            return self
        value = owner.__dict__[self.name] = self.compute(owner)
        return value
