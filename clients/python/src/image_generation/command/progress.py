"""How far a generation is, on the error stream, so that the output stays for programs."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from image_generation import Disconnected, Event, Progress, Queued, Started


class ProgressLines:
    """Lines: for terminals where rich is not installed, and for logs."""

    def __init__(self) -> None:
        self._last = ''

    def show(self, event: Event) -> None:
        """Tells what happened, once."""
        text = words_of(event)
        if text not in ('', self._last):
            print(text, file=sys.stderr)
            self._last = text


class ProgressBar:
    """A bar of rich's."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._task = bar.add_task('Accepted', total=None)

    def show(self, event: Event) -> None:
        """Moves the bar."""
        if isinstance(event, Progress):
            self._bar.update(self._task, description='Painting', completed=event.step, total=event.steps)
        elif text := words_of(event):
            self._bar.update(self._task, description=text)


def words_of(event: Event) -> str:
    """What a person wants to know of an event; empty for nothing."""
    if isinstance(event, Queued):
        eta = f', about {event.eta_seconds} s' if event.eta_seconds else ''
        return f'Waiting: number {event.position} in line{eta}'
    if isinstance(event, Started):
        return 'Painting'
    if isinstance(event, Disconnected):
        return f'The connection broke; looking for {event.request_id}'
    return ''


def progress(is_quiet: bool) -> AbstractContextManager[Any]:
    """A bar on a terminal, lines elsewhere and without rich, nothing where nothing is wanted."""
    if is_quiet:
        return nullcontext(None)
    if not sys.stderr.isatty():
        return nullcontext(ProgressLines())
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar
    except ImportError:
        return nullcontext(ProgressLines())
    columns = (TextColumn('{task.description}'), BarColumn(), TimeElapsedColumn())
    return _Opened(Bar(*columns, console=Console(stderr=True), transient=True))


class _Opened(AbstractContextManager[ProgressBar]):
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return ProgressBar(self._bar)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
