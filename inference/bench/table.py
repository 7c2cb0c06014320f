"""Tables in Markdown, from the rows."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from .plans import PLAIN, VARIANTS
from .rows import Row, read_rows

_DIGITS = {'s': '.3f', 'GB': '.1f', 'share': '.0%', '/min': '.1f'}


def make_tables(folders: Iterable[Path]) -> str:
    """One part for each plan, model and size; of what was measured twice, the last counts."""
    rows = [row for folder in folders for file in sorted(folder.glob('*.jsonl')) for row in read_rows(file)]
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        # Rows that an earlier version left may be of a variant that is no more.
        if row['kind'] == 'value' and row['variant'] in VARIANTS:
            groups[row['plan'], row['model'], row['size']].append(row)
    parts = _machines([row for row in rows if row['kind'] == 'machine'])
    for (plan, model, size), group in groups.items():
        note = '. Its times say nothing, its bytes do' if size == 'tiny' else ''
        parts += [f'**{model}, {size}, with random weights** (plan `{plan}`){note}', _table(group)]
    return '\n\n'.join(parts + _not_measured(rows))


def _machines(rows: Sequence[Row]) -> list[str]:
    lines = dict.fromkeys(f'- {row["device"]}; {row["versions"]}; commit {row["commit"]}' for row in rows)
    parts = ['\n'.join(lines)] if lines else []
    if any(row['on'] != 'card' for row in rows):
        parts.append('**Rehearsed on a CPU: these times say nothing about a card.**')
    return parts


def _table(group: Sequence[Row]) -> str:
    """A line for each measurement, a column for each variant that was measured."""
    lines: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in group:
        lines[_title(row)][row['variant']] = row
    names = [name for name in VARIANTS if any(name in found for found in lines.values())]
    # By variant, and how it holds an adapter.
    first = {
        (row['variant'], row['adapter']): row['value']
        for row in group
        if row['what'] == 'bytes' and row['when'] == 'first'
    }
    text = [
        f'|  | {" | ".join(VARIANTS[name].title for name in names)} |',
        '| --- |' + ' ---: |' * len(names),
    ]
    for title, found in lines.items():
        cells = [_cell(found[name], found.get(PLAIN), first) if name in found else '-' for name in names]
        text.append(f'| {title} | {" | ".join(cells)} |')
    return '\n'.join(text)


def _title(row: Row) -> str:
    """Adapters stand in one line, however a variant holds them; how it does not by itself has a line."""
    title: str = row['what']
    if row['adapter'] != 'none' and 'adapter' not in title:
        usual = row['adapter'] == VARIANTS[row['variant']].adapted
        title += ', with an adapter' + ('' if usual else f' that is {row["adapter"]}')
    if row['what'] == 'bytes':
        return f'{title}: {row["when"]}'
    return f'{title}{", second process" if row["job"] == "fresh" else ""}, {row["unit"]}'


def _cell(row: Row, plain: Row | None, first: dict[tuple[str, str], str]) -> str:
    if row['what'] == 'bytes':
        return _compare(row, first)
    value = f'{row["value"]:{_DIGITS[row["unit"]]}}'
    # A share is no cost: no ratio stands beside it.
    if plain is None or row is plain or not plain['value'] or row['unit'] == 'share':
        return value
    return f'{value} ({row["value"] / plain["value"]:.2f}x)'


def _compare(row: Row, first: dict[tuple[str, str], str]) -> str:
    """Whether the same order gave the bytes that it gave first, and an adapter other ones than none."""
    if row['blank']:
        return '**one color**'
    if row['when'] == 'first':
        other = first.get((row['variant'], 'none'))
        return '**as without**' if row['adapter'] != 'none' and row['value'] == other else 'measured'
    expected = first.get((row['variant'], row['adapter']))
    return 'not compared' if expected is None else 'same' if row['value'] == expected else '**other**'


def _not_measured(rows: Sequence[Row]) -> list[str]:
    """What failed and never ended, and what was left out."""
    ended = {_place(row) for row in rows if row['kind'] == 'ended'}
    lines = {_place(row): f': {row["reason"]}' for row in rows if row['kind'] == 'failed'}
    lines = {place: reason for place, reason in lines.items() if place not in ended}
    lines |= {
        f'{_place(row)}: left out {row["what"]}': f': {row["reason"]}'
        for row in rows
        if row['kind'] == 'skipped'
    }
    if not lines:
        return []
    return ['\n'.join(['Not measured:', '', *(f'- {place}{reason}' for place, reason in lines.items())])]


def _place(row: Row) -> str:
    return ', '.join(row[name] for name in ('plan', 'model', 'variant', 'job'))
