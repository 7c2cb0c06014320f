"""The benchmark's report, for people and for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from .rounds import Cost

PLAIN = 'plain diffusers'

Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Report:
    """Everything about one run."""

    #: What was painted with what, in words.
    setting: Mapping[str, str]
    #: The variants' names, in the order of the columns.
    variants: Sequence[str]
    #: All costs, by what was measured and by variant.
    costs: Mapping[str, Mapping[str, Sequence[Cost]]]
    #: Notes for the reader.
    notes: Sequence[str]
    #: What ended the run before all was measured.
    error: str | None = None

    @property
    def median_seconds(self) -> Values:
        """By measurement and by variant."""
        return {
            row: {name: median(cost.seconds for cost in costs) for name, costs in columns.items()}
            for row, columns in self.costs.items()
        }

    @property
    def peak_gigabytes(self) -> Values:
        """By measurement and by variant; empty without a GPU."""
        return {
            row: {name: _peak(costs) for name, costs in columns.items() if costs[0].peak_bytes is not None}
            for row, columns in self.costs.items()
        }

    def as_json(self) -> dict[str, Any]:
        """All of it, with what the tables say."""
        seconds, gigabytes = self.median_seconds, self.peak_gigabytes
        return {
            **asdict(self),
            'median_seconds': seconds,
            'seconds_ratio': {row: _ratios(values) for row, values in seconds.items()},
            'peak_gigabytes': gigabytes,
            'peak_ratio': {row: _ratios(values) for row, values in gigabytes.items()},
        }

    def as_text(self) -> str:
        """Tables in Markdown. In brackets stand the ratios to plain diffusers."""
        parts = [
            '\n'.join(f'- {name}: {value}' for name, value in self.setting.items()),
            self._table('seconds (median)', self.median_seconds, '.3f'),
            self._table('peak GPU memory, GB', self.peak_gigabytes, '.2f'),
            '\n'.join(f'- {note}' for note in self.notes),
            f'It ended early. {self.error}' if self.error else '',
        ]
        return '\n\n'.join(part for part in parts if part)

    def _table(self, title: str, values: Values, style: str) -> str:
        lines = [f'| {title} | {" | ".join(self.variants)} |', '| --- |' + ' --- |' * len(self.variants)]
        for row, columns in values.items():
            ratios = _ratios(columns)
            cells = [_cell(columns.get(name), ratios.get(name), style) for name in self.variants]
            lines.append(f'| {row} | {" | ".join(cells)} |')
        return '\n'.join(lines) if any(values.values()) else ''


def _peak(costs: Sequence[Cost]) -> float:
    return max(cost.peak_bytes or 0 for cost in costs) / 1e9


def _ratios(values: Mapping[str, float]) -> dict[str, float]:
    plain = values.get(PLAIN)
    return {name: value / plain for name, value in values.items()} if plain else {}


def _cell(value: float | None, ratio: float | None, style: str) -> str:
    if value is None:
        return 'none'
    return f'{value:{style}}' if ratio is None else f'{value:{style}} ({ratio:.2f}x)'
