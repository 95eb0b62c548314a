"""What other packages add by entry points: verbs, captioners, embedders, detectors; docs/extending.md."""

from typing import TYPE_CHECKING, Any

from remembr_ros.errors import ExtensionFailed

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints


def _entries(kind: str) -> 'EntryPoints':
    # Late: it takes longer to import than the rest of the command.
    from importlib.metadata import entry_points

    return entry_points(group=f'remembr.{kind}')


def extensions(kind: str) -> 'dict[str, EntryPoint]':
    """Return what installed packages add, by name, without importing it.

    This looks at every installed package (60 ms where there are 200): only where a name is none of our own.

    :param kind: the end of the group's name: verbs, captioners, embedders or detectors
    """
    return {entry.name: entry for entry in _entries(kind)}


def load_extension(kind: str, name: str) -> Any:
    """Return what a package adds by that name, imported; None: no package does.

    :raises ExtensionFailed: it cannot be imported, or two packages add it
    """
    found = [*_entries(kind).select(name=name)]
    if not found:
        return None
    origins = ' and '.join(map(origin, found))
    if len(found) > 1:
        raise ExtensionFailed(f'{origins} both add {name!r} to the {kind} of remembr; uninstall one of them')
    try:
        return found[0].load()
    except (ImportError, AttributeError) as error:
        raise ExtensionFailed(
            f'{origins}, which adds it, cannot be imported ({error}); install what it needs, or uninstall it'
        ) from error


def origin(entry: 'EntryPoint') -> str:
    """Return the name and version of the package that adds something."""
    return f'{entry.dist.name} {entry.dist.version}' if entry.dist else entry.value
