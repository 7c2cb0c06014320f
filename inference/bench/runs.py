"""Runs a plan: one process for each job, one after the other, as far as the time goes."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .plans import JOBS, PLAIN, VARIANTS, Job, Plan, model_dir, where
from .rows import Rows, read_rows

#: A job that would have less is left for the next run.
_LEAST_SECONDS = 45
#: Lines of a failed job's output that its row keeps.
_LAST_LINES = 12
_LONGEST_LINE = 300
_ROOT = Path(__file__).parent.parent
#: What a job runs, after Python's name.
COMMAND = ('-m', 'bench', 'job')


@dataclass(frozen=True)
class Task:
    """A job for one variant of one model."""

    job: Job
    model: str
    variant: str


@dataclass
class Run:
    """Where a plan's processes find things, and until when they may run."""

    plan: str
    out: Path
    cache: Path
    #: Of `time.monotonic`.
    deadline: float
    #: The processes that run.
    children: set[int] = field(default_factory=set)

    @property
    def file(self) -> Path:
        """Where the rows go."""
        return self.out / f'{self.plan}.jsonl'

    @property
    def left_seconds(self) -> float:
        """How much time is left."""
        return self.deadline - time.monotonic()

    def stop(self) -> None:
        """Ends what runs, and starts nothing more."""
        self.deadline = 0.0
        for child in tuple(self.children):
            _kill(child)


def tasks_of(
    plan: Plan, models: Sequence[str], variants: Sequence[str], jobs: Sequence[Job] = JOBS
) -> list[Task]:
    """All of a plan. Each variant is measured before one is served or generates again."""
    return [
        Task(job, model, variant)
        for job in JOBS
        for model in plan.models
        for variant in VARIANTS
        if model in models and variant in variants and job in jobs
        if job in VARIANTS[variant].jobs and VARIANTS[variant].takes(model)
    ]


def left_of(tasks: Sequence[Task], file: Path) -> list[Task]:
    """Those that have not ended in an earlier run here. Those that failed most often are last."""
    rows = [row for row in read_rows(file) if row.get('on') == where()]
    ended = {_task(row) for row in rows if row['kind'] == 'ended'}
    failed = Counter(_task(row) for row in rows if row['kind'] == 'failed')
    return sorted((task for task in tasks if task not in ended), key=lambda task: failed[task])


def _task(row: object) -> Task | None:
    with suppress(KeyError, TypeError):
        return Task(row['job'], row['model'], row['variant'])  # type: ignore[index]
    return None


def run_tasks(run: Run, plan: Plan, tasks: Sequence[Task]) -> int:
    """Runs them, and answers how many did not end."""
    needed = sorted({task.model for task in tasks})
    missing = [model for model in needed if not model_dir(run.cache, model, plan).is_dir()]
    unbuilt = {model for model in missing if not _run_task(run, plan, Task('build', model, PLAIN))}
    able = [task for task in tasks if task.model not in unbuilt]
    at_once = max(1, min(plan.together, (os.cpu_count() or 1) // 2))
    with ThreadPoolExecutor(at_once) as pool:
        ended = sum(pool.map(lambda task: _run_task(run, plan, task), able))
    return len(tasks) - ended


def _run_task(run: Run, plan: Plan, task: Task) -> bool:
    title = f'{run.plan}: {task.model}, {task.variant}, {task.job}'
    if run.left_seconds < _LEAST_SECONDS:
        print(f'{title}: left for the next run', flush=True)
        return False
    rows = Rows(run.file, {'plan': run.plan, 'size': plan.size, 'on': where(), **asdict(task)})
    began = time.monotonic()
    limit_seconds = min(plan.job_seconds, run.left_seconds)
    reason, lines = _run_child(run, task, limit_seconds)
    seconds = time.monotonic() - began
    if reason is None:
        rows.add('ended', seconds=round(seconds, 1))
    else:
        rows.add('failed', seconds=round(seconds, 1), reason=reason, lines=lines)
    print(f'{title}: {reason or "ended"} after {seconds:.0f} s', *lines, sep='\n  ', flush=True)
    return reason is None


def _run_child(run: Run, task: Task, limit_seconds: float) -> tuple[str | None, list[str]]:
    """Why it did not end, if so, and the last lines that it printed then."""
    command = [
        sys.executable, *COMMAND, run.plan, task.job, task.model, task.variant,
        '--out', str(run.out.resolve()), '--cache', str(run.cache.resolve()),
    ]  # fmt: skip
    with tempfile.TemporaryFile() as output:
        # A group of its own, so that all that it started ends with it.
        child = subprocess.Popen(command, cwd=_ROOT, stdout=output, stderr=subprocess.STDOUT, process_group=0)
        run.children.add(child.pid)
        try:
            status = child.wait(limit_seconds)
            reason = f'exit status {status}' if status else None
        except subprocess.TimeoutExpired:
            reason = f'killed, it took longer than {limit_seconds:.0f} s'
        finally:
            _kill(child.pid)
            child.wait()
            run.children.discard(child.pid)
        output.seek(0)
        text = output.read().decode('utf-8', 'replace').rstrip()
    lines = [line[:_LONGEST_LINE] for line in text.splitlines()[-_LAST_LINES:]]
    return reason, lines if reason else []


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
