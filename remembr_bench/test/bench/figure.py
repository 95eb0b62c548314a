"""What a benchmark returns."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    :param name: what was measured
    :param value: the figure
    :param baseline: the same kind of figure for the least work that the task needs, or of another way to do
        it, from the same run; None: there is none
    :param unit: of both
    :param least: the value must reach this; None: only reported
    :param most: the value must not exceed this; None: only reported
    """

    name: str
    value: float
    baseline: float | None
    unit: str
    least: float | None = None
    most: float | None = None

    @property
    def passed(self) -> bool:
        return (self.least is None or self.value >= self.least) and (
            self.most is None or self.value <= self.most
        )

    @property
    def ratio(self) -> float | None:
        """The value over the baseline."""
        return None if not self.baseline else self.value / self.baseline

    @property
    def target(self) -> str:
        """What the value has to be."""
        if self.least is not None:
            return f'>= {self.least:g}'
        return '' if self.most is None else f'<= {self.most:g}'
