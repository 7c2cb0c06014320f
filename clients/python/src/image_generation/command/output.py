"""Where images go, and how those are fetched that did not get there."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from image_generation import ApiError, GenerationResult, StoredGeneration
from image_generation._io import followed, write_whole, written_into

from .configuration import UsageError
from .terminal import shown

formats = ('png', 'webp', 'jpeg')
_others = 'avif bmp gif heic heif ico jp2 jxl svg tif tiff'
image_endings = {one: one for one in (*formats, *_others.split())} | dict.fromkeys(
    ('jpg', 'jpe', 'jfif'), 'jpeg'
)
# What an image weighs at least, of whatever it is a picture.
bytes_per_pixel = {'png': 1.0, 'webp': 1 / 16, 'jpeg': 1 / 16}


@dataclass
class Kept:
    """A request whose images the service keeps."""

    request_id: str | None = None
    is_done: bool = False
    files: list[Path] = field(default_factory=list[Path])


@contextmanager
def fetchable(args: Namespace, kept: Kept) -> Generator[None, None, None]:
    """Whatever ends the work within, Ctrl-C too, gets `advice`: how to fetch the images for nothing."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, ApiError) and not kept.is_done:
            # Before it was accepted, and after it failed, there is nothing to fetch.
            if kept.request_id is None or error.status >= 500 or 'Nothing was charged' in str(error):
                raise
        elif kept.request_id is None:
            kept.request_id = getattr(error, 'request_id', None)
        if kept.request_id is not None or isinstance(error, KeyboardInterrupt):
            vars(error).update(request_id=kept.request_id, advice=_advice(args, kept))
        raise


def _advice(args: Namespace, kept: Kept) -> str:
    if kept.request_id is None:
        return 'If the request was accepted, it goes on and is charged: see "imagegen list".'
    words = ['imagegen', 'get', kept.request_id, '-o', args.output or '.']
    words += [] if kept.is_done else ['--wait']
    words += ['--base-url', args.base_url] if args.base_url else []
    state = 'It is kept' if kept.is_done else 'It goes on and is charged when it completes'
    saved = f'Saved: {", ".join(map(str, kept.files))}. ' if kept.files else ''
    return f'{saved}{state}. To fetch it costs nothing: {shlex.join(words)}'


def check_output(args: Namespace, count: int = 1, least_bytes: float = 0) -> None:
    """Nothing is paid for an image that has nowhere to go. Makes the folder that is asked for."""
    paths: list[Path] = []
    folder = Path(args.output or '.')
    if args.output is None or _is_folder(args.output):
        folder.mkdir(parents=True, exist_ok=True)
    else:
        paths = paths_of(args.output, '', 0, [''] * count)
        folder = followed(paths[0]).parent
    for path in paths:
        # A name that is too long is an error here.
        if path.exists() and (path.is_dir() or not os.access(path, os.W_OK)):
            raise UsageError(f'{path} may not be written to.')
        if is_output(path) and args.json:
            raise UsageError('The output can take the image or --json, not both.')
        if written_into(path) is not None:
            return
    try:
        with tempfile.TemporaryFile(dir=folder):
            space = shutil.disk_usage(folder)
    except OSError as error:
        if not folder.is_dir():
            raise UsageError(f'There is no folder {folder}.') from error
        raise UsageError(f'Nothing can be saved in {folder}: {error.strerror}.') from error
    # A file system that does not say has a size of 0.
    if space.total > 0 and space.free < count * least_bytes:
        raise UsageError(f'{folder} has {space.free // 1000} kB left, too few for an image.')


def _is_folder(output: str) -> bool:
    return output == '' or output.endswith(('/', os.sep)) or Path(output).is_dir()


def format_of(output: str | None, asked: str | None) -> str | None:
    """The format by the ending of the output. What is no ending of an image is part of the name."""
    if output is None or _is_folder(output):
        return asked
    ending = Path(output).name.rpartition('.')[2].lower()
    if ending not in image_endings:
        return asked
    ending = image_endings[ending]
    if ending not in formats:
        raise UsageError(f'{output}: images are made as {", ".join(formats)} alone.')
    if asked not in (None, ending):
        raise UsageError(f'{output} does not end as the format {asked} does.')
    return ending


def save(image: GenerationResult | StoredGeneration, args: Namespace, name: str, kept: Kept) -> None:
    """Saves all images of a request, and shows them where the terminal can."""
    kept.request_id = image.request_id if isinstance(image, GenerationResult) else image.id
    kept.is_done = True
    paths = paths_of(args.output, name, image.seed, image.outputs)
    for one, path in zip(image.images, paths, strict=True):
        content = one.bytes()
        write_whole(path, content)
        kept.files.append(path)
        if sys.stdout.isatty() and not args.no_show and not args.json:
            print(shown(content) or '', end='')


def is_output(path: Path) -> bool:
    """Whether the image is the command's output, which then has no words."""
    return written_into(path) == 1


def print_files(kept: Kept) -> None:
    """The names of the files, on the output if no image is there."""
    for file in kept.files:
        if not is_output(file):
            print(file)


def paths_of(output: str | None, name: str, seed: int, links: Sequence[str]) -> list[Path]:
    """Where images go. A name that was not asked for replaces no file."""
    if output is not None and not _is_folder(output):
        path = Path(output)
        if len(links) > 1 and written_into(path) is not None:
            raise UsageError(f'{path} takes one image, and these are {len(links)}.')
        numbers = [''] if len(links) == 1 else [f'-{number}' for number in range(1, len(links) + 1)]
        return [path.with_name(f'{path.stem}{number}{path.suffix}') for number in numbers]
    folder = Path(output or '.')
    # Not every file system and locale takes other letters.
    stem = ''.join(one if one.isascii() and one.isalnum() else '-' for one in name.lower())[:64]
    return [
        _unused(folder, f'{stem}-{(seed + number) % 2**32}', Path(urlsplit(link).path).suffix)
        for number, link in enumerate(links)
    ]


def _unused(folder: Path, stem: str, suffix: str) -> Path:
    path = folder / f'{stem}{suffix}'
    number = 1
    while path.exists():
        number += 1
        path = folder / f'{stem}-{number}{suffix}'
    return path
