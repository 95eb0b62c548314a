"""What a benchmark returns."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    :param name: what was measured
    :param value: the figure
    :param baseline: the same kind of figure for the least work that the task needs, from the same run
    :param unit: of both
    :param least: the value must reach this; None: only reported
    """

    name: str
    value: float
    baseline: float
    unit: str
    least: float | None = None

    @property
    def passed(self) -> bool:
        return self.least is None or self.value >= self.least
