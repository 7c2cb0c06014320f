"""
`python -m bench --pipeline sdxl`: how long images and adapters take with plain diffusers and the engines.

Without --model-dir the model has random weights. They take about the same time as learned ones.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import torch

from random_models import KINDS, SIZES

from .run import VARIANTS, run


def main(arguments: list[str] | None = None) -> int:
    """Measures, writes the file, and prints the tables. Answers the exit status: 1 when it ended early."""
    options = _parse(arguments)
    with tempfile.TemporaryDirectory() as folder:
        report = run(options, Path(folder), lambda line: print(line, file=sys.stderr, flush=True))
    if options.out is not None:
        options.out.write_text(json.dumps(report.as_json(), indent=2) + '\n', 'utf-8')
    print(report.as_text())
    return 1 if report.error else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    """Ends the process where they don't fit."""
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(prog='bench', description=__doc__)
    parser.add_argument('--pipeline', choices=KINDS, required=True)
    parser.add_argument('--model-dir', type=Path, help='a diffusers folder; default: one with random weights')
    parser.add_argument(
        '--size', choices=SIZES, default='full' if on_gpu else 'tiny', help='of random weights'
    )
    parser.add_argument('--steps', type=int, default=30)
    parser.add_argument('--sides', type=int, nargs='+', default=[1024], help='pixels')
    parser.add_argument('--repeats', type=int, default=5, help='how often one image is measured')
    parser.add_argument(
        '--variants',
        nargs='+',
        choices=list(VARIANTS),
        default=list(VARIANTS) if on_gpu else ['plain', 'engine'],
        help='ratios are to the plain one',
    )
    parser.add_argument('--apart', action='store_true', help='one variant in memory at a time')
    parser.add_argument('--out', type=Path, help='a JSON file for everything that was measured')
    options = parser.parse_args(arguments)
    if min(options.steps, options.repeats, *options.sides) < 1:
        parser.error('--steps, --sides and --repeats must be 1 or more.')
    return options


if __name__ == '__main__':
    sys.exit(main())
