"""Tables in Markdown, from the rows."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .plans import PLAIN, VARIANTS
from .rows import Row, read_rows

_DIGITS = {'s': '.3f', 'GB': '.1f', 'share': '.0%', '/min': '.1f'}
# More of these is better, or they are no cost: no ratio stands beside them.
_WITHOUT_RATIO = ('share',)

#: What was measured, by variant.
Columns = dict[str, Row]


def make_tables(folders: Iterable[Path]) -> str:
    """One part for each plan, model and size; of what was measured twice, the last counts."""
    rows = [row for folder in folders for file in sorted(folder.glob('*.jsonl')) for row in read_rows(file)]
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row['kind'] in ('value', 'skipped'):
            groups[row['plan'], row['model'], row['size']].append(row)
    parts = [*_machines(rows)]
    for (plan, model, size), group in groups.items():
        note = '. Its times say nothing, its bytes do' if size == 'tiny' else ''
        parts.append(f'**{model}, {size}, with random weights** (plan `{plan}`){note}')
        parts += [_table(group), _bytes(group)]
    parts.append(_failures(rows))
    return '\n\n'.join(part for part in parts if part)


def _machines(rows: Sequence[Row]) -> list[str]:
    found = [row for row in rows if row['kind'] == 'machine']
    lines = {f'- {row["device"]}; {row["versions"]}; commit {row["commit"]}': row for row in found}
    parts = ['\n'.join(lines)] if lines else []
    if any(row['on'] != 'card' for row in found):
        parts.append('**Rehearsed on a CPU: these times say nothing about a card.**')
    return parts


def _table(group: Sequence[Row]) -> str:
    measured: dict[str, Columns] = {}
    for row in group:
        if row['kind'] == 'value' and row['what'] != 'bytes':
            measured.setdefault(_title(row), {})[row['variant']] = row
    names = _columns(group)
    lines = [
        f'|  | {" | ".join(VARIANTS[name].title for name in names)} |',
        '| --- |' + ' ---: |' * len(names),
    ]
    for title, columns in measured.items():
        cells = [_cell(columns.get(name), columns.get(PLAIN)) for name in names]
        lines.append(f'| {title} | {" | ".join(cells)} |')
    return '\n'.join(lines)


def _columns(group: Sequence[Row]) -> list[str]:
    return [name for name in VARIANTS if any(row['variant'] == name for row in group)]


def _title(row: Row) -> str:
    """Adapters stand in one line, however a variant holds them; how it does not by itself has a line."""
    adapter = (
        '' if row['adapter'] == 'none' or 'adapter' in row['what'] else f', with an adapter{_otherwise(row)}'
    )
    again = ', second process' if row['job'] == 'fresh' else ''
    return f'{row["what"]}{adapter}{again}, {row["unit"]}'


def _otherwise(row: Row) -> str:
    return '' if row['adapter'] == VARIANTS[row['variant']].adapted else f' that is {row["adapter"]}'


def _cell(row: Row | None, plain: Row | None) -> str:
    if row is None:
        return '-'
    value = f'{row["value"]:{_DIGITS[row["unit"]]}}'
    if plain is None or row is plain or not plain['value'] or row['unit'] in _WITHOUT_RATIO:
        return value
    return f'{value} ({row["value"] / plain["value"]:.2f}x)'


def _bytes(group: Sequence[Row]) -> str:
    """Whether the same order gave the same bytes, and where not."""
    found: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for row in group:
        if row['kind'] == 'value' and row['what'] == 'bytes':
            found[row['variant'], row['adapter']][row['when']] = row
    lines = []
    for (variant, adapter), by_when in list(found.items()):
        parts = _compare(by_when)
        without = found[variant, 'none']
        if adapter != 'none' and _first(by_when) is not None and _first(by_when) == _first(without):
            parts.append('**the adapter changes nothing**')
        what = VARIANTS[variant].title + ('' if adapter == 'none' else ', with an adapter')
        lines.append(f'- {what}: {"; ".join(parts)}')
    return '\n'.join(['Bytes of the same order:', '', *lines]) if lines else ''


def _first(by_when: Mapping[str, Row]) -> object:
    return by_when['first']['value'] if 'first' in by_when else None


def _compare(by_when: Mapping[str, Row]) -> list[str]:
    first = by_when.get('first')
    others = {when: row for when, row in by_when.items() if when != 'first'}
    if first is None or not others:
        return ['not compared']
    differing = [when for when, row in others.items() if row['value'] != first['value']]
    same = [when for when in others if when not in differing]
    parts = [
        f'**other bytes** {_list(differing)}' if differing else '',
        f'same {_list(same)}' if same else '',
    ]
    if any(row['blank'] for row in by_when.values()):
        parts.append('**an image of one color**')
    return [part for part in parts if part]


def _list(when: Sequence[str]) -> str:
    words = {'repeated': 'when repeated', 'fresh': 'in a fresh process'}
    return ', '.join(words.get(each, each) for each in when)


def _failures(rows: Sequence[Row]) -> str:
    """What failed and never ended, and what was left out."""
    ended = {_place(row) for row in rows if row['kind'] == 'ended'}
    last = {_place(row): row for row in rows if row['kind'] == 'failed' and _place(row) not in ended}
    lines = [f'- {", ".join(place)}: {row["reason"]}' for place, row in last.items()]
    lines += [
        f'- {", ".join(_place(row))}: left out {row.get("what", "")}: {row["reason"]}'.replace(' : ', ': ')
        for row in rows
        if row['kind'] == 'skipped'
    ]
    return '\n'.join(['Not measured:', '', *dict.fromkeys(lines)]) if lines else ''


def _place(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in ('plan', 'model', 'variant', 'job'))
