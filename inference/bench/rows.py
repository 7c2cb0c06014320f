"""
What was measured, as lines of JSON in a file.

A line is on the disk as soon as it is measured, so a run that is cut off loses only what it was measuring.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Rows:
    """A file of rows; any number of processes may add to it."""

    file: Path
    #: What all rows of this process have in common.
    common: Row

    def add(self, kind: str, **values: object) -> None:
        """Adds a row: `value`, `machine`, `skipped`, `failed` or `ended`."""
        line = json.dumps({'kind': kind, **self.common, **values}) + '\n'
        descriptor = os.open(self.file, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o644)
        try:
            # Who was killed while writing left half a line.
            whole = _ends_whole(descriptor)
            os.write(descriptor, (line if whole else '\n' + line).encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def value(self, what: str, value: float | str, unit: str, **more: object) -> None:
        """Adds a row with a measurement."""
        self.add('value', what=what, value=value, unit=unit, **more)


def _ends_whole(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b'\n'


def read_rows(file: Path) -> list[Row]:
    """All whole rows, in the order in which they were added."""
    return list(_parse(file.read_text('utf-8'))) if file.is_file() else []


def _parse(text: str) -> Iterator[Row]:
    for line in text.split('\n'):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row
