"""What each command does."""

from __future__ import annotations

import getpass
import json
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from image_generation import (
    Accepted,
    Client,
    GenerationResult,
    Identity,
    RequestInProgress,
    RequestNotFound,
    StoredGeneration,
    UploadError,
)

from .arguments import prompt_of
from .configuration import Configuration, UsageError, configuration_path, write_configuration
from .progress import progress
from .terminal_image import shown


class Interrupted(Exception):
    """Ctrl-C while a request runs, which goes on."""

    def __init__(self, request_id: str) -> None:
        super().__init__(f'It goes on and is charged when it completes: imagegen get --wait {request_id}')


def printable(text: str) -> str:
    """Text of others, without what would change the terminal."""
    return ''.join(one if one.isprintable() else ' ' for one in text)


def print_json(value: Any) -> None:
    """For programs."""
    print(json.dumps(value, indent=2, default=lambda one: one.model_dump(mode='json', by_alias=True)))


def check_output(output: str | None) -> None:
    """Nothing is paid for an image that has nowhere to go."""
    if output is not None and not Path(output).parent.is_dir():
        raise UsageError(f'There is no folder {Path(output).parent}.')


def generate(client: Client, args: Namespace) -> None:
    """Makes images and saves them."""
    check_output(args.output)
    parameters = _parameters(client, args)
    request_id: str | None = None
    image: GenerationResult | None = None
    with progress(args.quiet or args.json) as shown_progress:
        try:
            for event in client.generate_events(idempotency_key=args.idempotency_key, **parameters):
                if isinstance(event, GenerationResult):
                    image = event
                elif isinstance(event, Accepted):
                    request_id = event.request_id
                if shown_progress is not None and not isinstance(event, GenerationResult):
                    shown_progress.show(event)
        except KeyboardInterrupt:
            if request_id is None:
                raise
            raise Interrupted(request_id) from None
    assert image is not None
    files = _save(image, args, image.identity.name)
    if args.json:
        print_json({**_plain(image), 'files': [str(file) for file in files]})
        return
    for file in files:
        print(file)
    credits = '1 credit' if image.credits_charged == 1 else f'{image.credits_charged} credits'
    left = f', {image.usage.credits_remaining} left' if image.usage else ''
    print(f'{credits}{left}; seed {image.seed}; request {image.request_id}', file=sys.stderr)


def quote(client: Client, args: Namespace) -> None:
    """Tells what generate would cost."""
    priced = client.dry_run(**_parameters(client, args))
    if args.json:
        print_json(priced)
        return
    left = priced.usage.credits_remaining
    print(f'{priced.credits} of {left} credits that are left')


def list_(client: Client, args: Namespace) -> None:
    """Lists requests, newest first."""
    if args.limit < 1:
        raise UsageError('--limit must be at least 1.')
    identity_id = _identity(client, args.identity).id if args.identity else None
    found: list[StoredGeneration] = []
    pages = client.all_generations(limit=min(args.limit, 100), identity_id=identity_id, status=args.status)
    for one in pages:
        found.append(one)
        if len(found) == args.limit:
            break
    if args.json:
        print_json(found)
        return
    _print_table(
        [
            [one.id, one.status, one.identity.slug, f'{one.created_at:%Y-%m-%d %H:%M}', one.prompt]
            for one in found
        ]
    )


def get(client: Client, args: Namespace) -> None:
    """Shows a request, and saves its images where that is asked for."""
    check_output(args.output)
    if args.wait:
        client.wait_for_generation(args.request_id)
    stored = client.get_generation(args.request_id)
    files = _save(stored, args, stored.identity.slug) if args.output is not None else []
    if args.json:
        print_json({**_plain(stored), 'files': [str(file) for file in files]})
        return
    rows = [
        ['request', stored.id],
        ['status', stored.status],
        ['identity', stored.identity.slug],
        ['prompt', stored.prompt],
        ['size', f'{stored.width} x {stored.height} px'],
        ['images', str(stored.num_outputs)],
        ['seed', str(stored.seed)],
        ['credits', str(stored.credits_charged)],
        ['created', f'{stored.created_at:%Y-%m-%d %H:%M:%S} UTC'],
    ]
    if stored.error_message is not None:
        rows.append(['error', f'{stored.error_message} ({stored.error_code})'])
    _print_table(rows)
    for file in files:
        print(file)


def delete(client: Client, args: Namespace, tell: Callable[[Exception, str], int]) -> int:
    """Deletes requests for good, also when one of them is missing or runs. Returns the exit code."""
    ids = list(dict.fromkeys(args.request_ids))
    if not args.yes:
        _confirm('1 request' if len(ids) == 1 else f'{len(ids)} requests')
    exit_code = 0
    deleted: list[str] = []
    try:
        for one in ids:
            try:
                client.delete_generation(one)
            except (RequestNotFound, RequestInProgress) as error:
                exit_code = tell(error, f'{one}: ')
                continue
            deleted.append(one)
            if not args.json:
                print(one)
    finally:
        if args.json:
            print_json({'deleted': deleted})
    return exit_code


def _confirm(what: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError('Nothing was deleted: give --yes, as there is no terminal to ask on.')
    question = f'Delete {what} with images and prompt for good? No credits come back. [y/N] '
    print(question, end='', file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ('y', 'yes'):
        print('Nothing was deleted.', file=sys.stderr)
        raise KeyboardInterrupt


def identities(client: Client, args: Namespace) -> None:
    """Lists the identities that the key may use."""
    found = client.list_identities()
    if args.json:
        print_json(found)
        return
    _print_table([[one.slug, one.description if one.available else 'Not available now.'] for one in found])


def configure(args: Namespace) -> None:
    """Asks for the address and the key, and writes the file."""
    is_person = sys.stdin.isatty()
    base_url = args.base_url or (input('Base URL (ends in /api/v1): ') if is_person else '')
    if not base_url:
        raise UsageError('Give --base-url.')
    api_key = getpass.getpass('API key: ') if is_person else sys.stdin.readline()
    configuration = Configuration(base_url=base_url.strip(), api_key=api_key.strip())
    # It looks at both before they are written.
    Client(configuration.api_key, configuration.base_url).close()
    write_configuration(configuration)
    print(f'Written to {configuration_path()}, which only you may read.', file=sys.stderr)


def _parameters(client: Client, args: Namespace) -> Any:
    """The request that the arguments ask for."""
    names = ('negative_prompt', 'width', 'height', 'num_outputs', 'seed', 'num_inference_steps')
    given = {name: getattr(args, name) for name in (*names, 'guidance_scale', 'output_format')}
    identity_id = _identity(client, args.identity).id
    references = [_reference(client, one) for one in args.reference]
    return {
        'identity_id': identity_id,
        'prompt': prompt_of(args.prompt),
        **{name: value for name, value in given.items() if value is not None},
        **({'reference_images': references} if references else {}),
        **({'reference_mode': 'exact_product'} if args.exact_product else {}),
        **({'preserve_branding': True} if args.preserve_branding else {}),
    }


def _reference(client: Client, text: str) -> dict[str, str]:
    if text.lower().startswith('https://'):
        return {'url': text}
    try:
        return {'upload_id': client.upload_reference(text)}
    except UploadError as error:
        raise UploadError(f'{text}: {error}', error.status, error.code) from error
    except OSError as error:
        if error.filename is None:
            raise
        raise UsageError(f'{text} cannot be read: {error.strerror}.') from error


def _identity(client: Client, name: str) -> Identity:
    """An identity by its ID, its slug or its name."""
    found = client.list_identities()
    for one in found:
        if name == one.id or name.lower() in (one.slug.lower(), one.name.lower()):
            return one
    slugs = ', '.join(one.slug for one in found) or 'none'
    raise UsageError(f'No identity is called {printable(name)}. Your key may use: {printable(slugs)}.')


def _save(image: GenerationResult | StoredGeneration, args: Namespace, name: str) -> list[Path]:
    """Saves all images of a request, and shows them where the terminal can."""
    files = paths_of(args.output, name, image.seed, image.outputs)
    for one, path in zip(image.images, files, strict=True):
        one.save(path)
        if sys.stdout.isatty() and not args.no_show and not args.json:
            print(shown(path.read_bytes()) or '', end='')
    return files


def paths_of(output: str | None, name: str, seed: int, links: Sequence[str]) -> list[Path]:
    """Where images go. A name that was not asked for replaces no file."""
    if output is not None and not Path(output).is_dir():
        path = Path(output)
        numbers = [''] if len(links) == 1 else [f'-{number}' for number in range(1, len(links) + 1)]
        return [path.with_name(f'{path.stem}{number}{path.suffix}') for number in numbers]
    folder = Path(output or '.')
    stem = ''.join(one if one.isalnum() else '-' for one in name.lower())
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


def _plain(answer: BaseModel) -> dict[str, Any]:
    return answer.model_dump(mode='json', by_alias=True)


def _print_table(rows: list[list[str]]) -> None:
    """Columns as wide as they must be; the last one is cut at the edge of a terminal."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)][:-1]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for *first, last in cells:
        start = ''.join(f'{cell:<{width}}  ' for cell, width in zip(first, widths, strict=True))
        print(f'{start}{last}'[:edge])
