"""
Turns a diffusers folder into the S3 prefix that an endpoint starts from.

    python tools/package_model.py FOLDER s3://bucket/models/name/ [--name NAME] [--dry-run]

It checks the folder, writes `model.json` into it, which names the model in every image, and uploads what
the server needs. `model.json` goes last, so a prefix that has one is complete. What is there already is
not uploaded again. Without a prefix nothing is uploaded.
"""

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path

# Started as a file, Python looks beside it for modules, not beside the package.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools.model_folder import PackagingError, select_files, visible_files
from tools.s3_target import Target, plan_upload

_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,59}')


def hash_file(file: Path) -> str:
    """SHA-256, 64 hex digits."""
    with file.open('rb') as stream:
        return hashlib.file_digest(stream, 'sha256').hexdigest()


def write_model_json(folder: Path, name: str, hashes: dict[str, str], dry_run: bool) -> str:
    """
    Names the model by its files; answers the SHA-256 of `model.json` itself. Raises OSError.

    The digest is the SHA-256 of what `sha256sum` prints of the other files, sorted by path: for each a line
    with its SHA-256, two spaces and its path.
    """
    lines = ''.join(f'{sha256}  {path}\n' for path, sha256 in sorted(hashes.items()))
    digest = hashlib.sha256(lines.encode()).hexdigest()
    text = json.dumps({'name': name, 'digest': digest}, indent=2) + '\n'
    print(f'{name}@{digest[:12]}')
    if not dry_run:
        (folder / 'model.json').write_text(text, 'utf-8')
    return hashlib.sha256(text.encode()).hexdigest()


def package(folder: Path, target: Target | None, name: str, dry_run: bool) -> None:
    """Does all of it. Raises PackagingError and OSError."""
    files = select_files(folder)
    hashes = {path: hash_file(folder / path) for path in files}
    hashes['model.json'] = write_model_json(folder, name, hashes, dry_run)
    left_out = [path for path in visible_files(folder) if path not in hashes]
    if left_out:
        show(folder, left_out, 'Left out')
    missing = plan_upload(target, hashes) if target else list(hashes)
    if not missing:
        print('All of it is there already.')
        return
    show(folder, [path for path in missing if path in files], 'To upload, and model.json at the end')
    if target and not dry_run:
        for path in missing:
            target.put(folder / path, path, hashes[path])


def show(folder: Path, files: list[str], title: str) -> None:
    """Prints the files with their sizes."""
    sizes = {path: (folder / path).stat().st_size for path in files}
    print(f'{title}: {len(files)} files, {readable(sum(sizes.values()))}')
    for path, size in sizes.items():
        print(f'{readable(size):>10}  {path}')


def readable(size: float) -> str:
    """A number of bytes in the unit that fits."""
    for unit in ('B', 'kB', 'MB'):
        if size < 1000:
            return f'{size:.0f} {unit}'
        size /= 1000
    return f'{size:.1f} GB'


def choose_name(given: str | None, folder: Path, target: Target | None) -> str:
    """The given one, or the last part of the prefix, or the folder's. Raises PackagingError."""
    usual = target.prefix.rstrip('/').rpartition('/')[2] if target else ''
    name = given or usual or folder.resolve().name
    if not _NAME.fullmatch(name):
        raise PackagingError(
            f'"{name}" is no name. Give one of at most 60 letters, digits, ".", "_" and "-" with --name.'
        )
    return name


def read_arguments() -> argparse.Namespace:
    """Ends the process with 2 on wrong ones."""
    parser = argparse.ArgumentParser(
        description='Turns a diffusers folder into the S3 prefix of an endpoint.'
    )
    parser.add_argument('folder', type=Path, help='a pipeline as diffusers saves it, with model_index.json')
    parser.add_argument('target', nargs='?', help='as s3://bucket/models/name/; none: nothing is uploaded')
    parser.add_argument('--name', help='of the model, in answers and images (the last part of the target)')
    parser.add_argument('--dry-run', action='store_true', help='check and print only')
    return parser.parse_args()


def main() -> int:
    """Answers the exit status."""
    given = read_arguments()
    try:
        target = Target.parse(given.target) if given.target else None
        package(given.folder, target, choose_name(given.name, given.folder, target), given.dry_run)
    except (PackagingError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
