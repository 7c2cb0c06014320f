"""
What operators see: JSON lines on stdout, some of them metrics.

Nothing here takes a message of another library: such texts hold links and prompts. Metrics are lines in the
embedded metric format of CloudWatch
(https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
"""

import json
import logging
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Sequence
from copy import copy
from datetime import UTC, datetime
from typing import Literal, TextIO

Metric = Literal['QueueWait', 'StepTime', 'VideoMemory', 'AdapterLoad']
_LONGEST_TEXT = 200
# The format's limit of values in one line.
_MOST_VALUES = 100


class Observer:
    """Writes whole lines, from any thread."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._lock = threading.Lock()
        self._fields: dict[str, object] = {}

    def about(self, **fields: object) -> 'Observer':
        """The same with these fields in each line of its log; those that are None are left out."""
        other = copy(self)
        other._fields = {name: value for name, value in fields.items() if value is not None}
        return other

    def log(self, message: str, level: str = 'info', **fields: object) -> None:
        """One line. The fields hold no prompt and no link; long texts are cut."""
        now = datetime.now(UTC).isoformat(timespec='milliseconds')
        shown = {
            name: value[:_LONGEST_TEXT] if isinstance(value, str) else value
            for name, value in (self._fields | fields).items()
        }
        self._write({'time': now, 'level': level, 'message': message, **shown})

    def fault(self, message: str, error: BaseException, **fields: object) -> None:
        """An unexpected error: its type and its place in the code, but not its text."""
        self.log(message, 'error', error=type(error).__name__, at=_frames(error), **fields)

    def metric(self, name: Metric, values: float | Sequence[float]) -> None:
        """One metric with one value or several; nothing when there is none."""
        shown = values if isinstance(values, int | float) else list(values)[:_MOST_VALUES]
        if shown == []:
            return
        metric = {'Name': name, 'Unit': 'Bytes' if name == 'VideoMemory' else 'Milliseconds'}
        about = {'Namespace': 'ImageGeneration', 'Dimensions': [['service']], 'Metrics': [metric]}
        stamp = {'Timestamp': int(time.time() * 1000), 'CloudWatchMetrics': [about]}
        self._write({'_aws': stamp, 'service': 'inference', name: shown})

    def _write(self, line: dict[str, object]) -> None:
        text = json.dumps(line, default=str) + '\n'
        with self._lock:
            try:
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):
                # A closed stream must not end a request.
                pass


def _frames(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)
    return [f'{frame.filename}:{frame.lineno} {frame.name}' for frame in frames[-12:]]


def silence_libraries() -> None:
    """Silences the libraries: HTTP clients write links into a log, and tokenizers prompts."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter('ignore')
