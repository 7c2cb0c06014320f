"""
What was measured, as lines of JSON in a file.

A line is on the disk as soon as it is measured, so a run that is cut off loses only what it was measuring.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
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
        """Adds a row: `value`, `machine`, `failed` or `ended`."""
        # It begins with the line's end, because who was killed while writing left half a line.
        line = '\n' + json.dumps({'kind': kind, **self.common, **values})
        descriptor = os.open(self.file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)
        try:
            os.write(descriptor, line.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def value(self, what: str, value: float | str, unit: str, **more: object) -> None:
        """Adds a row with a measurement."""
        self.add('value', what=what, value=value, unit=unit, **more)


def read_rows(file: Path) -> list[Row]:
    """All whole rows, in the order in which they were added."""
    rows = []
    for line in file.read_text('utf-8').split('\n') if file.is_file() else ():
        with suppress(ValueError):
            rows.append(json.loads(line))
    return [row for row in rows if isinstance(row, dict)]
