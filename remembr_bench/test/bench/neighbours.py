"""How many of the exact nearest neighbours a search finds."""

from collections.abc import Collection, Iterable


def recall_of(found: Iterable[Collection[str]], exact: Iterable[Collection[str]]) -> float:
    """Return the mean share of the exact neighbours that are among those found, per search."""
    pairs = list(zip(found, exact, strict=True))
    return sum(len(set(ids) & set(best)) / len(best) for ids, best in pairs) / len(pairs)
