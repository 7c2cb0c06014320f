"""`python -m random_models sdxl FOLDER`: writes a diffusers folder with random weights."""

import argparse
from pathlib import Path

from . import KINDS, SIZES, build


def main(arguments: list[str] | None = None) -> None:
    """Builds what the command line says."""
    parser = argparse.ArgumentParser(prog='random_models', description=__doc__)
    parser.add_argument('kind', choices=KINDS)
    parser.add_argument('folder', type=Path)
    parser.add_argument('--size', choices=SIZES, default='tiny')
    options = parser.parse_args(arguments)
    build(options.kind, options.folder, options.size)


if __name__ == '__main__':
    main()
