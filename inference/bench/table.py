"""Tables in Markdown, from the rows: what was measured, and which goals were met."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from .rows import Row, read_rows

_DIGITS = {'s': '.3f', 'ms': '.2f', 'µs': '.1f', 'GB': '.1f', 'share': '.0%', 'tokens': '.0f', '/min': '.1f'}
_TITLES = {'plain': 'plain diffusers', 'flash': 'without cuDNN attention'}
#: How a variant usually holds an adapter; the others merge it.
_WRAPPED = {'plain': 'wrapped'}
_USUAL_ADAPTED = 'merged'

#: For SDXL at 1024 x 1024 pixels in 30 steps on an H100 or H200: at most so much of plain diffusers' seconds,
#: and at most so many seconds.
_OF_PLAIN = {'one image': 1 / 1.5, 'one image, with an adapter': 1 / 2.5, 'four outputs': 1.0}
_SECONDS = {'adapter, another': 0.3, 'ready after that, second process': 60.0}


def make_tables(folders: Iterable[Path]) -> str:
    """One part for each model and size; of what was measured twice, the last counts."""
    rows = [row for folder in folders for file in sorted(folder.glob('*.jsonl')) for row in read_rows(file)]
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        # Earlier versions told digests apart.
        if row['kind'] == 'value' and row['unit'] != 'sha256':
            groups[row['model'], row['size']].append(row)
    parts = _machines([row for row in rows if row['kind'] == 'machine'])
    for (model, size), group in groups.items():
        note = '. Its times say nothing, its bytes do' if size == 'tiny' else ''
        parts += [f'**{model}, {size}, with random weights**{note}', *_tables(group, size)]
    return '\n\n'.join(parts + _not_measured(rows))


def _machines(rows: Sequence[Row]) -> list[str]:
    lines = dict.fromkeys(f'- {row["device"]}; {row["versions"]}; commit {row["commit"]}' for row in rows)
    parts = ['\n'.join(lines)] if lines else []
    if any(row['on'] != 'card' for row in rows):
        parts.append('**Rehearsed on a CPU: these times say nothing about a card.**')
    return parts


#: By what was measured, and by variant.
_Found = dict[str, dict[str, Row]]


def _tables(group: Sequence[Row], size: str) -> list[str]:
    found: _Found = defaultdict(dict)
    for row in group:
        found[_title(row)][row['variant']] = row
    names = [name for name in dict.fromkeys(row['variant'] for row in group) if name != 'none']
    lines = [[title, *(_cell(cells, name) for name in names)] for title, cells in found.items()]
    titles = [_TITLES.get(name, name) for name in names]
    goals = [goal for name in names if name not in _TITLES for goal in _goals(found, name, size)]
    return [
        _draw(['', *titles], [line for line in lines if set(line[1:]) != {'-'}]),
        *([_draw(['goal', 'measured', 'at most', ''], goals)] if goals else []),
    ]


def _draw(titles: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = f'| --- |{" ---: |" * (len(titles) - 1)}'
    return '\n'.join([f'| {" | ".join(titles)} |', rule, *(f'| {" | ".join(line)} |' for line in lines)])


def _title(row: Row) -> str:
    """Adapters stand in one line, however a variant holds them; how it does not by itself has a line."""
    title: str = row['what']
    if row['adapter'] != 'none' and 'adapter' not in title:
        usual = row['adapter'] == _WRAPPED.get(row['variant'], _USUAL_ADAPTED)
        title += ', with an adapter' + ('' if usual else f' that is {row["adapter"]}')
    return title + (', second process' if row['job'] == 'fresh' else '')


def _cell(cells: dict[str, Row], name: str) -> str:
    row, plain = cells.get(name), cells.get('plain')
    if row is None:
        return '-'
    value = f'{row["value"]:{_DIGITS[row["unit"]]}} {row["unit"]}'.removesuffix(' share')
    if row.get('blank'):
        value += ', **one color**'
    # Only what costs has a ratio.
    if plain is None or row is plain or not plain['value'] or row['unit'] not in ('s', 'ms'):
        return value
    return f'{value} ({row["value"] / plain["value"]:.2f}x)'


def _goals(found: _Found, name: str, size: str) -> list[list[str]]:
    """Lines of what was to be reached: the seconds, and what must be equal."""
    lines = []
    for title in () if size == 'tiny' else (*_OF_PLAIN, *_SECONDS):
        row, plain = found[title].get(name), found[title].get('plain')
        most = _SECONDS.get(title, plain and plain['value'] * _OF_PLAIN.get(title, 0))
        if row is None or most is None:
            lines.append([f'{name}: {title}', '', '', 'not measured'])
        else:
            met = 'met' if row['value'] <= most else '**missed**'
            lines.append([f'{name}: {title}', f'{row["value"]:.3f} s', f'{most:.3f} s', met])
    for title, values in _compared(found, name):
        same = 'not measured' if len(values) < 2 else 'met' if len({*values}) == 1 else '**missed**'
        lines.append([f'{name}: {title}', '', 'equal', same])
    return lines


def _compared(found: _Found, name: str) -> Iterable[tuple[str, list[str]]]:
    """What must be equal."""
    sizes = [str(row['inputs']) for row in found['tokens of the prompt'].values()]
    yield 'sizes of an evaluation, as of plain diffusers', sizes
    for images in ('one image', 'four'):
        ways = [found[f'one evaluation, {images}, {way}'].get(name) for way in ('eager', 'graph')]
        yield f'bytes of one evaluation, {images}, as a graph', [row['digest'] for row in ways if row]
    for adapter in ('', ', with an adapter'):
        first = _digests(found, f'one image{adapter}', name)
        yield f'bytes of one image{adapter}, repeated', first
        for title in (f'one image after a swap{adapter}', f'one image{adapter}, second process'):
            others = _digests(found, title, name)
            yield f'bytes of {title}', [*first[:1], *others] if others else []


def _digests(found: _Found, title: str, name: str) -> list[str]:
    row = found[title].get(name)
    return [] if row is None else list(row.get('digests', ()))


def _not_measured(rows: Sequence[Row]) -> list[str]:
    """What failed: a process, or a part of one."""
    names = ('model', 'job', 'variant', 'what')
    lines = dict.fromkeys(
        f'- {", ".join(row[name] for name in names if name in row)}: {row["reason"]}'
        for row in rows
        if row['kind'] == 'failed'
    )
    return ['\n'.join(['Not measured:', '', *lines])] if lines else []
