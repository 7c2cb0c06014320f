"""`python -m random_models sdxl FOLDER`: writes a diffusers folder with random weights."""

import argparse
from pathlib import Path

from . import KINDS, SIZES, build, build_ip_adapter


def main(arguments: list[str] | None = None) -> None:
    """Builds what the command line says."""
    parser = argparse.ArgumentParser(prog='random_models', description=__doc__)
    parser.add_argument('kind', choices=KINDS)
    parser.add_argument('folder', type=Path)
    parser.add_argument('--size', choices=SIZES, default='tiny')
    parser.add_argument('--ip-adapter', action='store_true', help='with a tiny IP-Adapter (tiny sdxl only)')
    options = parser.parse_args(arguments)
    if options.ip_adapter and (options.kind, options.size) != ('sdxl', 'tiny'):
        parser.error('--ip-adapter is for a tiny sdxl only')
    build(options.kind, options.folder, options.size)
    if options.ip_adapter:
        build_ip_adapter(options.folder)


if __name__ == '__main__':
    main()
