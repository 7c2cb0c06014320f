"""`imagegen batch`: a file of requests, and a folder of images."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from argparse import Namespace
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from image_generation import ApiError, Client, CreditLimitExceeded, IdentityUnavailable
from image_generation._batch_folder import unsent
from image_generation._calls import is_url
from image_generation._generate import check_names
from image_generation.parameters import GenerationParameters

from .commands import given, identity_of, left_of, print_json, printable
from .configuration import UsageError
from .terminal import Counted, progress, say

Requests = dict[int, Any]
_types: dict[str, Any] = {
    **dict.fromkeys(
        ('identity_version', 'seed', 'num_inference_steps', 'num_outputs', 'width', 'height'), int
    ),
    'guidance_scale': (int, float),
    'preserve_branding': bool,
    'reference_images': list,
}
_size = ('width', 'height', 'num_outputs')
# Each dry run is one of the ten requests of a minute.
_dry_runs = 5
_advice = 'What was sent goes on. The same command goes on from here; within 24 hours nothing is paid twice.'


def batch(client: Client, args: Namespace) -> int:
    """Generates what the lines of a file ask for. Returns the exit code."""
    lines = _read(client, args)
    folder = Path(args.output)
    if not args.dry_run:
        folder.mkdir(parents=True, exist_ok=True)
    priced = unsent(folder, lines, args.again)
    pace_seconds = _quote(client, args, {number: lines[number] for number in sorted(priced)}) if priced else 0
    earlier = len(lines) - len(priced)
    if args.dry_run:
        return 0
    failed = done = credits = 0
    began = time.monotonic()
    try:
        with progress(args.quiet or args.json) as shown:
            for result in client.batch(lines, folder, again=args.again):
                done, credits = done + 1, credits + result.credits
                if result.code is not None:
                    failed += 1
                    say(printable(f'line {result.line}: {result.error} ({result.code})'))
                left = len(lines) - done
                measured = (time.monotonic() - began) / max(1, done - earlier)
                if shown is not None and done > earlier:
                    eta = f', about {_span(left * max(measured, pace_seconds))} left' if left else ''
                    shown.show(Counted(done, len(lines), f'{_counted(credits, "credit")}{eta}'))
    except BaseException as error:
        if not isinstance(error, ValueError):
            vars(error)['advice'] = _advice
        raise
    if args.json:
        print_json({'lines': len(lines), 'failed': failed, 'credits': credits, 'folder': args.output})
    else:
        made = f'{done - failed} of {_counted(done, "line")} have images'
        say(f'{made}, for {_counted(credits, "credit")}: see {folder / "results.jsonl"}')
    return 1 if failed else 0


def _quote(client: Client, args: Namespace, lines: Requests) -> float:
    """Says what the lines cost, and how long they take: the seconds from one to the next are returned.
    Raises UsageError when too few credits are left.
    """
    key = client.key()
    left = left_of(key.credits.remaining, key.credits.extra_remaining)
    left = min(left, key.budget.remaining) if key.budget else left
    credits, unpriced, is_enough = _price(client, lines)
    rest = f' The price of {_counted(unpriced, "line")} is not known.' if unpriced else ''
    pace_seconds = 60 / key.requests.per_minute
    eta = _span(len(lines) * pace_seconds)
    cost = f'{_counted(credits, "credit")} of {left} that are left'
    say(f'{_counted(len(lines), "line")} to generate: {cost}; about {eta}.{rest}')
    if not (is_enough and credits <= left) and not args.yes and not args.dry_run:
        raise UsageError('Nothing was sent: give --yes to generate as many as the credits are enough for.')
    return pace_seconds


def _price(client: Client, lines: Requests) -> tuple[int, int, bool]:
    """What the lines cost, of how many that is not known, and whether each size has credits for one."""
    sizes: dict[Any, list[int]] = {}
    for number, line in lines.items():
        sizes.setdefault(tuple(line.get(name) for name in _size), []).append(number)
    groups = deque(sorted(sizes.values(), key=len, reverse=True))
    credits, unpriced, is_enough = 0, len(lines), True
    for _ in range(_dry_runs):
        if not groups:
            break
        numbers = groups.popleft()
        asked = {name: lines[numbers[0]].get(name) for name in ('identity_id', 'prompt', *_size)}
        try:
            credits += len(numbers) * client.dry_run(**asked).credits
            unpriced -= len(numbers)
        except ApiError as error:
            is_spent = isinstance(error, CreditLimitExceeded)
            # The batch reports these of their lines, too, and goes on.
            is_of_line = error.status in (400, 413) or isinstance(error, IdentityUnavailable)
            if not is_of_line and not is_spent:
                raise
            is_enough = is_enough and not is_spent
            say(printable(f'line {numbers[0]}: {error} ({error.code})'))
            # Another line may tell what they cost.
            if is_of_line and len(numbers) > 1:
                groups.append(numbers[1:])
    return credits, unpriced, is_enough


def _counted(number: int, noun: str) -> str:
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def _span(seconds: float) -> str:
    """For people."""
    minutes = max(1, round(seconds / 60))
    return f'{minutes} min' if minutes < 60 else f'{minutes // 60} h {minutes % 60} min'


def _read(client: Client, args: Namespace) -> Requests:
    """The requests, by the numbers of their lines. Raises UsageError that names all lines that are wrong."""
    path = Path(args.file)
    is_csv = path.suffix.lower() == '.csv'
    if not is_csv and path.suffix.lower() != '.jsonl':
        raise UsageError(f'{path} must end in .jsonl or .csv.')
    try:
        text = path.read_text(encoding='utf-8-sig')
    except UnicodeDecodeError as cause:
        raise UsageError(f'{path} must be UTF-8.') from cause
    identities = client.list_identities()
    lines: Requests = {}
    wrong: list[str] = []
    for number, raw in _csv_rows(text) if is_csv else enumerate(text.split('\n'), 1):
        if isinstance(raw, str) and not raw.strip():
            continue
        try:
            line = {**given(args), **_parameters(json.loads(raw) if isinstance(raw, str) else raw, is_csv)}
            if not line.get('prompt') or not line.get('identity_id'):
                raise UsageError('prompt or identityId is missing.')
            line['identity_id'] = identity_of(client, identities, line['identity_id']).id
            check_names('batch', line)
            lines[number] = line
        except (json.JSONDecodeError, RecursionError):
            wrong.append(f'line {number}: It is no JSON.')
        except (UsageError, ValueError) as error:
            wrong.append(f'line {number}: {error}')
    if wrong and not args.skip_invalid:
        more = f' And {len(wrong) - 20} more.' if len(wrong) > 20 else ''
        raise UsageError(f'{" ".join(wrong[:20])}{more} Mend them, or give --skip-invalid.')
    for one in wrong:
        say(printable(f'{one} It is skipped.'))
    if not lines:
        raise UsageError(f'{path} has no lines to generate.')
    return lines


def _csv_rows(text: str) -> Iterator[tuple[int, Any]]:
    """The rows with the numbers of their last lines. Cells that are empty are left out."""
    reader = csv.DictReader(io.StringIO(text, newline=''), restkey='', strict=True)
    try:
        for row in reader:
            yield reader.line_num, {name: cell for name, cell in row.items() if cell not in (None, '')}
    except csv.Error as cause:
        # It counts the row only once it was read.
        raise UsageError(f'The row from line {reader.line_num + 1} is no CSV: {cause}.') from cause


def _parameters(raw: Any, is_csv: bool) -> dict[str, Any]:
    """The members of a line, by the service's names or this package's."""
    if not isinstance(raw, dict):
        raise UsageError('It is no JSON object.')
    found: dict[str, Any] = {}
    for name, value in cast(dict[str, Any], raw).items():
        own = re.sub('(?=[A-Z])', '_', name).lower()
        kind = _types.get(own, str)
        if own not in GenerationParameters.__annotations__:
            raise UsageError(f'{name or "a cell without a name"} is no member of a request.')
        if is_csv and kind is list:
            value = value.split('|')
        elif is_csv and kind is not str:
            with suppress(ValueError):
                value = json.loads(value.lower())
        if value is None:
            continue
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise UsageError(f'{name} has the wrong type.')
        found[own] = value
    for one in found.get('reference_images', ()):
        if isinstance(one, str) and not is_url(one) and not Path(one).is_file():
            raise UsageError(f'{one} is no file.')
    return found
