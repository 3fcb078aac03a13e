"""From what a user names to an `Engine`, with a clear word where it is none."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Collection
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from kvconformance.installed import installed, origin, remedy
from kvconformance.surfaces import Engine, Factory
from kvconformance.surfaces.registry import kind_of, kinds, surface_of
from kvspec.rules import RULES
from kvspec.vocabulary import Capabilities, Surface, World


class NotAnAdapter(ValueError):
    """The name or object cannot be checked; the message says what is wrong and what to do."""

    usage = True


def load(name: str) -> Engine:
    """The engine with this name, or the object at `module:object`, which may be of the folder that we are in.

    Raises `NotAnAdapter`.
    """
    if ":" not in name:
        return _loaded(_named(name))
    module_name, _, attribute = name.partition(":")
    # Only here: whoever reads a stranger's trace in a stranger's folder runs none of its modules.
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # a stranger's module may raise anything
        raise NotAnAdapter(
            f"module {module_name!r} does not import ({_told(error)}); "
            "is it installed here, or is its folder on PYTHONPATH?"
        ) from error
    thing = getattr(module, attribute, None)
    if thing is None:
        raise NotAnAdapter(f"module {module_name!r} has no {attribute!r}; name an adapter class or an Engine")
    return as_engine(thing, name)


def as_engine(thing: object, name: str | None = None) -> Engine:
    """An `Engine` from an `Engine` or from an adapter class. Raises `NotAnAdapter`."""
    if isinstance(thing, Engine):
        engine = thing
    else:
        factory: Any = thing
        label = name or str(getattr(thing, "__name__", type(thing).__name__))
        engine = Engine(label, str(getattr(thing, "version", "unknown")), {_surface_of(thing): factory})
    for surface, adapter in engine.factories.items():
        _require_adapter(surface, adapter)
    return engine


def with_profiles(engine: Engine, profiles: frozenset[str], surfaces: Collection[Surface] | None = None) -> Engine:
    """The engine as if it declared these profiles too.

    Raises `NotAnAdapter` for a name that is no profile, and for one that binds none of `surfaces` (None: all it has).
    """
    if not profiles:
        return engine
    known = {rule.profile for rule in RULES.values() if rule.profile}
    if strange := profiles - known:
        raise NotAnAdapter(f"no profile is called {', '.join(sorted(strange))}; there are {', '.join(sorted(known))}")
    for profile in sorted(profiles):
        _require_bound(profile, engine.factories if surfaces is None else surfaces)
    return replace(engine, factories={s: _Declaring(f, profiles) for s, f in engine.factories.items()})


def _require_bound(profile: str, surfaces: Collection[Surface]) -> None:
    """The profile does something on one of the surfaces."""
    bound = [surface for rule in RULES.values() if rule.profile == profile for surface in rule.surfaces]
    if not set(bound) & set(surfaces):
        raise NotAnAdapter(
            f"the profile {profile} does nothing on {', '.join(surface.value for surface in surfaces)}; "
            f"it is one of {', '.join(surface.value for surface in bound)}"
        )


class _Declaring:
    """A factory whose capabilities have more profiles."""

    def __init__(self, factory: Factory, profiles: frozenset[str]) -> None:
        self._factory = factory
        declared: Capabilities = factory.capabilities  # type: ignore[attr-defined]
        self.capabilities = replace(declared, profiles=declared.profiles | profiles)

    def __call__(self, world: World) -> object:
        return self._factory(world)

    def __getattr__(self, name: str) -> object:
        return getattr(self._factory, name)


def _named(name: str) -> EntryPoint:
    """Where the one engine of this name stands."""
    known = installed()
    entries = known.get(name, ())
    if not entries:
        raise NotAnAdapter(f"no engine is called {name!r}; there are {', '.join(known)}, or give module:object")
    if len(entries) > 1:
        each = ", ".join(f"{origin(entry)} ({entry.value})" for entry in entries)
        raise NotAnAdapter(
            f"{len(entries)} distributions ship an engine called {name!r}: {each}; uninstall all but one"
        )
    return entries[0]


def _loaded(entry: EntryPoint) -> Engine:
    whose = f"engine {entry.name!r} of {origin(entry)}"
    try:
        thing = entry.load()
        engine = thing() if inspect.isfunction(thing) else thing
    except ImportError as error:
        raise NotAnAdapter(f"{whose} does not import here ({_told(error)}){remedy(entry)}") from error
    except Exception as error:  # a stranger's module may raise anything
        raise NotAnAdapter(f"{whose} cannot be loaded here ({_told(error)})") from error
    try:
        return as_engine(engine, entry.name)
    except NotAnAdapter as error:
        raise NotAnAdapter(f"{whose}: {error}") from error


def _told(error: Exception) -> str:
    """The error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _surface_of(thing: object) -> Surface:
    if (surface := surface_of(thing)) is not None:
        return surface
    nearest = max(kinds(), key=lambda kind: len(kind.required) - len(kind.missing(thing)))
    missing = ", ".join(f"{method}()" for method in nearest.missing(thing))
    raise NotAnAdapter(
        f"{thing!r} is no adapter: as a {nearest.surface.value} it lacks {missing}. "
        "Give a class with these methods (see 'Your own engine' in the README) or a kvconformance.Engine"
    )


def _require_adapter(surface: Surface, factory: object) -> None:
    what = f"the {surface.value} adapter {getattr(factory, '__name__', factory)}"
    kind = kind_of(surface)
    if missing := kind.missing(factory):
        raise NotAnAdapter(f"{what} lacks {', '.join(f'{method}()' for method in missing)}; add it")
    declared = getattr(factory, "capabilities", None)
    if not isinstance(declared, Capabilities):
        raise NotAnAdapter(f"{what} declares no capabilities; add `capabilities = Capabilities(...)` from kvspec")
    if not isinstance(declared, kind.capabilities):
        right = f"{kind.declares} {kind.capabilities.__name__}(...)"
        raise NotAnAdapter(f"{what} declares {type(declared).__name__}; {right}")
    if flaw := kind.flaw(declared):
        raise NotAnAdapter(f"{what} declares {flaw}")
    for able, method in kind.optional.items():
        if getattr(declared, able) and not hasattr(factory, method):
            raise NotAnAdapter(
                f"{what} declares {able}=True but has no {method}(); add the method or withdraw the capability"
            )
    if "swap" in declared.preemptions and not hasattr(factory, "transfer_done"):
        raise NotAnAdapter(f"{what} declares preemption by swap but has no transfer_done(); add it or withdraw swap")
    if declared.hides_lost_takes and "lru" in declared.profiles:
        raise NotAnAdapter(f"{what} declares the profile lru but hides what victims took; show it or withdraw lru")
