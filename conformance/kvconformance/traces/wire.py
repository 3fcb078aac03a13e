"""Events as JSON: one validated wire type for each record of the algebra, derived from its fields.

An event added to the algebra is in the format at once. Numbers keep within what every JSON reader can hold; a block
that does not exist or a position that is negative is not an error of form: the specification judges it.
"""

from __future__ import annotations

import types
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from operator import index
from typing import Annotated, Any, Final, NewType, SupportsIndex, Union, get_args, get_origin, get_type_hints

import msgspec

from kvrefine.refinement import Hidden, Observed
from kvspec import events as ev
from kvspec.published import Published

LARGEST: Final = 2**53 - 1
"""The largest whole number that every JSON reader can hold."""
LONGEST_TEXT: Final = 4_096

Number = Annotated[int, msgspec.Meta(ge=-LARGEST, le=LARGEST)]
Text = Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]


class Key(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A published key that JSON has not: bytes in hexadecimal or, with `number`, a whole number that is too large."""

    hex: Annotated[str, msgspec.Meta(pattern="^-?[0-9a-f]*$", max_length=LONGEST_TEXT)]
    number: bool = False

    @classmethod
    def of(cls, value: bytes | int) -> Key:
        """The key of an engine."""
        return cls(value.hex()) if isinstance(value, bytes) else cls(f"{value:x}", number=True)

    def value(self) -> bytes | int:
        """The key of the engine. Raises `ValueError`."""
        return int(self.hex, 16) if self.number else bytes.fromhex(self.hex)


EVENTS: Final[tuple[type, ...]] = (*get_args(ev.Event), *get_args(Hidden))
"""Everything that a line can be."""

_TAG_FIELDS: Final = {**dict.fromkeys(EVENTS, "event"), **dict.fromkeys(get_args(Published), "message")}


def decode(line: bytes) -> Observed:
    """The event of one line. Raises `ValueError` that says what is wrong and where in the line."""
    try:
        return _read(_decoder().decode(line))  # type: ignore[no-any-return]
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def encode(event: Observed) -> bytes:
    """The event as one line, without its end."""
    return _encoder.encode(_written(event))


@cache
def _decoder() -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(Union[tuple(_wire(event) for event in EVENTS)])  # noqa: UP007 # built at run time


_encoder = msgspec.json.Encoder()
_records: Final[dict[type, type]] = {}


@cache
def _wire(record: type) -> type[msgspec.Struct]:
    """The wire type of a record: the same fields, each validated."""
    hints = get_type_hints(record)
    made: list[Any] = []
    for field in fields(record):
        told = (field.name, _type(hints[field.name]))
        made.append(told if field.default is MISSING else (*told, _written(field.default)))
    tag: dict[str, Any] = {"tag_field": _TAG_FIELDS[record], "tag": record.__name__} if record in _TAG_FIELDS else {}
    wire = msgspec.defstruct(record.__name__, made, frozen=True, forbid_unknown_fields=True, omit_defaults=True, **tag)
    _records[wire] = record
    return wire


def _type(hint: Any) -> Any:
    """What stands on the wire for a value of this type."""
    if isinstance(hint, NewType):
        hint = hint.__supertype__
    if hint in _ATOMS:
        return _ATOMS[hint]
    if isinstance(hint, type) and is_dataclass(hint):
        return _wire(hint)
    origin, inner = get_origin(hint), tuple(item if item is ... else _type(item) for item in get_args(hint))
    if origin in {Union, types.UnionType}:
        return Union[inner]  # noqa: UP007
    return (dict if origin is Mapping else origin)[inner]


_ATOMS: Final[dict[Any, Any]] = {
    int: Number,
    str: Text,
    bool: bool,
    type(None): None,
    Hashable: Number | Text | Key,
}


def _written(value: Any) -> Any:
    """A value as its wire type. A published key of a type that JSON has not is written as its `repr`."""
    if is_dataclass(value) and not isinstance(value, type):
        wire = _wire(type(value))
        return wire(*(_written(getattr(value, field.name)) for field in fields(value)))
    if isinstance(value, tuple | frozenset):  # an empty one stays itself: what is a default is left out
        return type(value)(_written(item) for item in value) if value else value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, SupportsIndex) and not isinstance(value, int):
        value = index(value)  # a whole number of another library
    if isinstance(value, bytes) or (isinstance(value, int) and abs(value) > LARGEST):
        return Key.of(value)
    return value if isinstance(value, int | str | None) else repr(value)


def _read(value: Any) -> Any:
    """A wire value as the value it stands for."""
    if isinstance(value, Key):
        return value.value()
    if isinstance(value, msgspec.Struct):
        return _records[type(value)](*(_read(getattr(value, name)) for name in value.__struct_fields__))
    return tuple(_read(item) for item in value) if isinstance(value, tuple) else value
