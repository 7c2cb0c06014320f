"""
`python -m bench run PLAN --out DIR` measures as much of a plan as the time allows; the same again goes on.

`python -m bench table DIR…` makes tables of it. The weights are random, which take as long as learned ones.
"""

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from .plans import JOBS, PLANS, VARIANTS, describe_machine, plan_for_here
from .rows import Rows
from .runs import Run, left_of, run_tasks, tasks_of
from .table import make_tables


def main(arguments: list[str] | None = None) -> int:
    """Answers the exit status: 1 where something of the plan is left."""
    options = _parse(arguments)
    if options.command == 'run':
        return _run(options)
    if options.command == 'table':
        print(make_tables(options.folders))
        return 0
    from .measuring import run_job

    run_job(options.plan, options.job, options.model, options.variant, options.out, options.cache)
    return 0


def _run(options: argparse.Namespace) -> int:
    run = Run(options.plan, options.out, options.cache, time.monotonic() + options.minutes * 60)
    # Else a signal would leave the processes behind.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: run.stop())
    plan = plan_for_here(options.plan)
    run.out.mkdir(parents=True, exist_ok=True)
    tasks = left_of(tasks_of(plan, options.only or plan.models, options.variants, options.jobs), run.file)
    if tasks:
        Rows(run.file, {'plan': run.plan}).add('machine', **describe_machine())
    left = run_tasks(run, plan, tasks)
    print(f'{left} of {len(tasks)} are left.' if left else 'Nothing is left of this plan.')
    return 1 if left else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    """Ends the process where they don't fit."""
    parser = argparse.ArgumentParser(prog='bench', description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    run, job = commands.add_parser('run'), commands.add_parser('job', help='what `run` starts')
    for each in (run, job):
        each.add_argument('plan', choices=PLANS)
        each.add_argument('--out', type=Path, required=True, help='the folder of PLAN.jsonl')
        default = Path(tempfile.gettempdir()) / 'bench'
        each.add_argument('--cache', type=Path, default=default, help='where models are built')
    run.add_argument('--minutes', type=float, default=9, help='a run ends before')
    run.add_argument('--variants', nargs='+', choices=VARIANTS, default=list(VARIANTS))
    run.add_argument('--models', dest='only', nargs='+', help='only these of the plan')
    run.add_argument('--jobs', nargs='+', choices=JOBS, default=list(JOBS))
    job.add_argument('job')
    job.add_argument('model')
    job.add_argument('variant', choices=VARIANTS)
    table = commands.add_parser('table')
    table.add_argument('folders', type=Path, nargs='+')
    return parser.parse_args(arguments)


if __name__ == '__main__':
    sys.exit(main())
