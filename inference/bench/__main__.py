"""
`python -m bench run --out DIR` measures, and prints what `python -m bench table DIR…` prints of the rows.

`python -m bench operations` counts on a CPU what Python has to start for one evaluation of SDXL's UNet. The
weights are random, which take as long as learned ones.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from .rows import Rows
from .table import make_tables

#: Kept back for the fresh process, of which 20 seconds are for importing.
_FRESH_SECONDS = 75
#: The last lines of a failed process's output that its row keeps, and how long each may be.
_LAST_LINES = 12
_LONGEST_LINE = 300
_ROOT = Path(__file__).parent.parent
#: What runs a job, after Python's name.
COMMAND = ('-m', 'bench', 'job')


def main(arguments: list[str] | None = None) -> int:
    """Answers the exit status: 1 where something failed. Imports PyTorch only where it measures."""
    options = _parse(arguments)
    match options.command:
        case 'run':
            return _run(options)
        case 'table':
            print(make_tables(options.folders))
        case 'operations':
            from .operations import count_all

            print(count_all())
        case _:
            from .measuring import run_job

            run_job(options.job, options.model, options.tiny, options.out, options.cache)
    return 0


def _run(options: argparse.Namespace) -> int:
    """
    Two processes, since each takes long to import what it needs: one that measures, and a fresh one.

    Each is killed when its time is over; what it measured before is in the rows.
    """
    # Else a signal would leave a process behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + options.minutes * 60
    failed = False
    for job, kept_seconds in (('measure', _FRESH_SECONDS), ('fresh', 0)):
        rows = Rows(options.out / f'{options.model}.jsonl', {'model': options.model, 'job': job})
        began = time.monotonic()
        reason, lines = _run_child(options, job, max(1.0, end - kept_seconds - began))
        seconds = round(time.monotonic() - began, 1)
        if reason is None:
            rows.add('ended', seconds=seconds)
        else:
            rows.add('failed', what='the process', seconds=seconds, reason=reason, lines=lines)
            failed = True
        print(f'{job}: {reason or "ended"} after {seconds} s', *lines, sep='\n  ', flush=True)
    print(make_tables([options.out]))
    return int(failed)


def _run_child(options: argparse.Namespace, job: str, limit_seconds: float) -> tuple[str | None, list[str]]:
    """Why it did not end, if so, and the last lines that it printed then."""
    command = [
        sys.executable, *COMMAND, job, *(['--tiny'] if options.tiny else []), '--model', options.model,
        '--out', str(options.out.resolve()), '--cache', str(options.cache.resolve()),
    ]  # fmt: skip
    with tempfile.TemporaryFile() as output, tempfile.TemporaryDirectory() as empty:
        environment = dict(os.environ)
        if job == 'fresh':
            # PyTorch's own store: what is compiled already is what COMPILE_CACHE_DIR has.
            environment['TORCHINDUCTOR_CACHE_DIR'] = empty
        # A group of its own, so that all that it started ends with it.
        child = subprocess.Popen(
            command, cwd=_ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, process_group=0
        )
        try:
            status = child.wait(limit_seconds)
            reason = f'exit status {status}' if status else None
        except subprocess.TimeoutExpired:
            reason = f'killed, it took longer than {limit_seconds:.0f} s'
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        output.seek(0)
        text = output.read().decode('utf-8', 'replace').rstrip()
    lines = [line[:_LONGEST_LINE] for line in text.splitlines()[-_LAST_LINES:]]
    return reason, lines if reason else []


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    """Ends the process where they don't fit."""
    parser = argparse.ArgumentParser(prog='bench', description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    run, job = commands.add_parser('run'), commands.add_parser('job', help='what `run` starts')
    job.add_argument('job', choices=('measure', 'fresh'))
    for each in (run, job):
        each.add_argument('--out', type=Path, required=True, help='the folder of MODEL.jsonl')
        default = Path(tempfile.gettempdir()) / 'bench'
        each.add_argument('--cache', type=Path, default=default, help='where models and code are kept')
        each.add_argument('--model', default='sdxl', help='sdxl, z-image, z-image-turbo or flux2-klein')
        each.add_argument('--tiny', action='store_true', help='does it run at all? As always on a CPU')
    run.add_argument('--minutes', type=float, default=6, help='a run ends before')
    commands.add_parser('operations')
    commands.add_parser('table').add_argument('folders', type=Path, nargs='+')
    return parser.parse_args(arguments)


if __name__ == '__main__':
    sys.exit(main())
