"""The command's streams, whatever they are connected to: progress on the error stream, and pictures in
terminals.
"""

from __future__ import annotations

import base64
import codecs
import io
import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, TextIO

from image_generation import Disconnected, Event, Progress, Queued, Started

from .configuration import UsageError

# Kitty's protocol takes so many characters at a time.
_chunk_characters = 4096
_png = b'\x89PNG\r\n\x1a\n'


def prepare() -> None:
    """From now on no text is lost to an encoding, and a closed error stream takes what nobody can read."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, 'w')  # noqa: SIM115 — it is open to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors='backslashreplace')
    if sys.stdout is None:
        raise UsageError('The standard output is closed.')


def flush() -> None:
    """Writes what was printed. Where that fails, Python does not try it again at its end."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError as error:
        _silence(sys.stdout)
        # Whoever read the output has enough.
        if not isinstance(error, BrokenPipeError):
            raise


def say(text: str) -> None:
    """Prints to the standard error. Where that takes nothing, the command goes on."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def _silence(stream: TextIO) -> None:
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def read_input(one_line: bool = False) -> str:
    """The standard input, or its first line: UTF-8, and without a byte order mark."""
    if sys.stdin is None:
        raise UsageError('The standard input is closed.')
    content = sys.stdin.buffer.readline() if one_line else sys.stdin.buffer.read()
    try:
        return content.decode('utf-8-sig').strip()
    except UnicodeDecodeError as cause:
        is_utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        raise UsageError(f'The standard input must be UTF-8{", not UTF-16" if is_utf_16 else ""}.') from cause


def shown(content: bytes, environment: Mapping[str, str] = os.environ) -> str | None:
    """What to print for a picture to appear; None where the terminal cannot show it."""
    # A multiplexer keeps the codes for itself.
    if environment.get('TMUX') or environment.get('STY'):
        return None
    program = environment.get('TERM_PROGRAM', '')
    if environment.get('KITTY_WINDOW_ID') or environment.get('TERM') == 'xterm-kitty' or program == 'ghostty':
        return _by_kitty(content) if content.startswith(_png) else None
    if program in ('iTerm.app', 'WezTerm'):
        return _by_iterm2(content)
    return None


def _by_kitty(content: bytes) -> str:
    """See https://sw.kovidgoyal.net/kitty/graphics-protocol/: `a=T` shows at once, `f=100` is PNG, `m=1` has
    more to come.
    """
    text = base64.b64encode(content).decode()
    chunks = [text[start : start + _chunk_characters] for start in range(0, len(text), _chunk_characters)]
    parts: list[str] = []
    for number, chunk in enumerate(chunks):
        control = 'a=T,f=100,c=40,' if number == 0 else ''
        parts.append(f'\x1b_G{control}m={int(number < len(chunks) - 1)};{chunk}\x1b\\')
    return ''.join(parts)


def _by_iterm2(content: bytes) -> str:
    """See https://iterm2.com/documentation-images.html."""
    text = base64.b64encode(content).decode()
    return f'\x1b]1337;File=inline=1;size={len(content)};width=40:{text}\x07'


@dataclass(frozen=True)
class Counted:
    """How many of many are done."""

    done: int
    total: int
    words: str


class ProgressLines:
    """Lines: for terminals where rich is not installed, and for logs."""

    def __init__(self) -> None:
        self._last = ''

    def show(self, event: Event | Counted) -> None:
        """Prints what happened, once."""
        text = words_of(event)
        if text not in ('', self._last):
            say(text)
            self._last = text


class ProgressBar:
    """A bar of rich's."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._task = bar.add_task('Waiting', total=None)

    def show(self, event: Event | Counted) -> None:
        """Moves the bar."""
        if isinstance(event, Progress):
            self._bar.update(self._task, description='Generating', completed=event.step, total=event.steps)
        elif isinstance(event, Counted):
            self._bar.update(self._task, description=words_of(event), completed=event.done, total=event.total)
        elif text := words_of(event):
            self._bar.update(self._task, description=text)


def words_of(event: Event | Counted) -> str:
    """What a person wants to know of an event; empty for nothing."""
    if isinstance(event, Queued):
        eta = f', about {event.eta_seconds} s' if event.eta_seconds else ''
        return f'Waiting: number {event.position} in line{eta}'
    if isinstance(event, Counted):
        return f'{event.done} of {event.total}: {event.words}'
    if isinstance(event, Started):
        return 'Generating'
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
