"""Nodes of trees: classes whose fields are the names that they annotate."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Fields(type):
    """A class made by this metaclass has a slot for each name that its body annotates, in their order."""

    __slots__: tuple[str, ...]

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Fields:
        return super().__new__(mcs, name, bases, {**body, "__slots__": tuple(body.get("__annotations__", ()))})


class Record(metaclass=Fields):
    """A node whose constructor takes its fields in their order."""

    if TYPE_CHECKING:
        __slots__: tuple[str, ...]

    def __init__(self, *fields: Any) -> None:
        for name, value in zip(self.__slots__, fields, strict=True):
            setattr(self, name, value)
