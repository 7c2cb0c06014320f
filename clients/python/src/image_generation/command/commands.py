"""What each command does."""

from __future__ import annotations

import getpass
import json
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from pydantic import BaseModel

from image_generation import (
    Accepted,
    Client,
    GenerationResult,
    Identity,
    IdentityDetail,
    IdentityMismatch,
    IdentityNotFound,
    IdentityVersion,
    ImageGenerationError,
    NotFound,
    RequestInProgress,
    RequestNotFound,
    StoredGeneration,
)
from image_generation._retry import is_transient

from .configuration import Configuration, UsageError, configuration_path, write_configuration
from .output import Kept, bytes_per_pixel, check_output, fetchable, format_of, is_output, print_files, save
from .terminal import flush, progress, read_input, say


def printable(text: str) -> str:
    """Text of others, without what would change the terminal."""
    return ''.join(one if one.isprintable() else ' ' for one in text)


def print_json(value: Any) -> None:
    """For programs."""
    print(json.dumps(value, indent=2, default=lambda one: one.model_dump(mode='json', by_alias=True)))


def generate(client: Client, args: Namespace) -> None:
    """Makes images and saves them."""
    args.output_format = format_of(args.output, args.output_format)
    pixels = (args.width or 1024) * (args.height or 1024)
    check_output(args, args.num_outputs or 1, pixels * bytes_per_pixel[args.output_format or 'png'])
    identity = _identity(client, args.identity)
    parameters = _parameters(args, identity)
    kept = Kept()
    with fetchable(args, kept):
        image = _generated(client, args, parameters, kept)
        save(image, args, identity.slug, kept)
        if args.json:
            print_json({**_plain(image), 'files': list(map(str, kept.files))})
        else:
            print_files(kept)
        flush()
    if not args.json:
        credits = '1 credit' if image.credits_charged == 1 else f'{image.credits_charged} credits'
        left = f', {image.usage.credits_remaining} left' if image.usage else ''
        say(f'{credits}{left}; seed {image.seed}; request {image.request_id}')


def _generated(client: Client, args: Namespace, parameters: Any, kept: Kept) -> GenerationResult:
    """Makes images, and prints the request's ID before anything can happen to them."""
    with progress(args.quiet or args.json) as shown_progress:
        for event in client.generate_events(idempotency_key=args.idempotency_key, **parameters):
            if isinstance(event, GenerationResult):
                return event
            if isinstance(event, Accepted):
                kept.request_id = event.request_id
                if not args.json:
                    say(f'request {event.request_id}')
            if shown_progress is not None:
                shown_progress.show(event)
    raise AssertionError('The last event is the result.')


def quote(client: Client, args: Namespace) -> None:
    """Prints what generate would cost."""
    priced = client.dry_run(**_parameters(args, _identity(client, args.identity)))
    if args.json:
        print_json(priced)
        return
    # It is negative where extra credits were used.
    left = max(0, priced.usage.credits_remaining) + (priced.usage.extra_remaining or 0)
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
    if args.output is not None:
        check_output(args)
    if args.wait:
        client.wait_for_generation(args.request_id)
    stored = client.get_generation(args.request_id)
    kept = Kept()
    if args.output is not None and stored.images:
        format_of(args.output, stored.output_format)
        with fetchable(args, kept):
            save(stored, args, stored.identity.slug, kept)
    if args.json:
        print_json({**_plain(stored), 'files': list(map(str, kept.files))})
        return
    if any(map(is_output, kept.files)):
        return
    rows = [
        ['request', stored.id],
        ['status', stored.status],
        ['identity', stored.identity.slug],
        ['version', str(stored.identity_version or 'unknown')],
        ['prompt', stored.prompt],
        ['size', f'{stored.width} x {stored.height} px'],
        ['images', str(stored.num_outputs)],
        ['seed', str(stored.seed)],
        ['credits', str(stored.credits_charged)],
        ['created', f'{stored.created_at:%Y-%m-%d %H:%M:%S} UTC'],
    ]
    if stored.effective_prompt is not None:
        rows.insert(5, ['model got', stored.effective_prompt])
    if stored.error_message is not None:
        rows.append(['error', f'{stored.error_message} ({stored.error_code})'])
    _print_table(rows)
    print_files(kept)


def cancel(client: Client, args: Namespace) -> None:
    """Ends a request that waits or runs."""
    stored = client.cancel(args.request_id)
    if args.json:
        print_json(stored)
    else:
        print(f'{stored.id} is cancelled. Nothing was charged.')


def upload(client: Client, args: Namespace) -> None:
    """Uploads a reference image."""
    upload_id = client.upload_reference(args.file)
    if args.json:
        print_json({'uploadId': upload_id})
    else:
        print(upload_id)


def usage(client: Client, args: Namespace) -> None:
    """Prints what the key may still do."""
    key = client.key()
    if args.json:
        print_json(key)
        return
    requests = f'{key.requests.remaining} of {key.requests.per_minute} left in this minute'
    credits = f'{key.credits.remaining} of {key.credits.limit} left'
    extra = key.credits.extra_remaining
    rows = [
        ['key', f'{key.name} ({key.key_prefix}…)'],
        ['expires', f'{key.expires_at:%Y-%m-%d %H:%M} UTC' if key.expires_at else 'never'],
        ['license', f'{key.license.name} ({key.license.tier})'],
        ['credits', f'{credits} until {key.credits.resets_at:%Y-%m-%d %H:%M} UTC'],
        ['requests', requests],
        ['in flight', f'{key.license.in_flight} of {key.license.max_in_flight}'],
        ['identities', ', '.join(one.slug for one in key.identities) or 'none'],
    ]
    if extra is not None:
        rows.insert(4, ['extra credits', f'{extra} left beside them'])
    if key.budget is not None:
        rows.insert(4, ["key's budget", f'{key.budget.remaining} of {key.budget.monthly_credits} left'])
    if key.max_in_flight is not None:
        rows.insert(-1, ["key's in flight", f'{key.in_flight} of {key.max_in_flight}'])
    _print_table(rows)


def delete(client: Client, args: Namespace, report: Callable[[Exception, str], int]) -> int:
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
                exit_code = report(error, f'{one}: ')
                continue
            deleted.append(one)
            if not args.json:
                print(one)
    finally:
        if args.json:
            print_json({'deleted': deleted})
    return exit_code


def _confirm(what: str) -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError('Nothing was deleted: give --yes, as there is no terminal to ask on.')
    question = f'Delete {what} with images and prompt for good? No credits come back. [y/N] '
    print(question, end='', file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ('y', 'yes'):
        say('Nothing was deleted.')
        raise KeyboardInterrupt


def identities(client: Client, args: Namespace) -> None:
    """Lists the identities that the key may use."""
    found = client.list_identities()
    if args.json:
        print_json(found)
        return
    _print_table([[one.slug, one.description if one.available else 'Not available now.'] for one in found])


def identity(client: Client, args: Namespace) -> None:
    """Shows an identity and its versions."""
    found = _identity(client, args.identity)
    detail = client.get_identity(found.id)
    if args.json:
        print_json(detail)
        return
    size = f'{detail.default_size.width} x {detail.default_size.height} px'
    rows = [
        ['identity', detail.slug],
        ['id', detail.id],
        ['name', detail.name],
        ['description', detail.description],
        ['trigger words', ', '.join(detail.trigger_words)],
        ['default size', size],
        ['licence', detail.license or ''],
        ['source', detail.source or ''],
    ]
    _print_table([row for row in rows if row[1]])
    print()
    _print_table([_version_row(one) for one in detail.versions] or [['No version is active.']])


def _version_row(one: IdentityVersion) -> list[str]:
    made = f'{one.created_at:%Y-%m-%d}' if one.created_at else ''
    ends = f'until {one.retires_at:%Y-%m-%d}' if one.retires_at else ''
    return [str(one.version), 'active' if one.active else ends, made, one.note or '']


def configure(args: Namespace) -> None:
    """Asks for the address and the key, tries them, and writes the file."""
    is_person = sys.stdin is not None and sys.stdin.isatty()
    base_url = args.base_url or (input('Base URL (ends in /api/v1): ') if is_person else '')
    if not base_url:
        raise UsageError('Give --base-url.')
    api_key = getpass.getpass('API key: ') if is_person else read_input(one_line=True)
    configuration = Configuration(base_url=base_url.strip(), api_key=api_key.strip())
    # A key that is refused, and an address of something else, replace no file that works.
    with Client(configuration.api_key, configuration.base_url, max_retries=0) as client:
        try:
            slugs = ', '.join(one.slug for one in client.list_identities())
            sentence = f'The key opens these identities: {slugs or "none"}.'
        except ImageGenerationError as error:
            if not is_transient(error):
                raise
            sentence = f'Warning: the key could not be tried. {error}'
        write_configuration(configuration)
        # An older service has no such route, and the key is stored in any case.
        with suppress(ImageGenerationError):
            key = client.key()
            sentence = f'The license is {key.license.name} ({key.license.tier}). {sentence}'
    say(printable(sentence))
    say(f'Written to {configuration_path()}, which only you may read.')


def _parameters(args: Namespace, identity: Identity | IdentityDetail) -> Any:
    """The request that the arguments ask for."""
    prompt = read_input() if args.prompt == '-' else args.prompt
    return {**given(args), 'identity_id': identity.id, 'prompt': prompt}


def given(args: Namespace) -> dict[str, Any]:
    """What the options say of a request."""
    names = (
        'identity_version',
        'negative_prompt',
        'width',
        'height',
        'num_outputs',
        'seed',
        'num_inference_steps',
    )
    options = {name: getattr(args, name) for name in (*names, 'guidance_scale', 'output_format')}
    return {
        **{name: value for name, value in options.items() if value is not None},
        **({'identity_id': args.identity} if args.identity else {}),
        **({'reference_images': args.reference} if args.reference else {}),
        **({'reference_mode': 'exact_product'} if args.exact_product else {}),
        **({'preserve_branding': True} if args.preserve_branding else {}),
    }


def _identity(client: Client, name: str) -> Identity | IdentityDetail:
    return identity_of(client, client.list_identities(), name)


def identity_of(client: Client, found: list[Identity], name: str) -> Identity | IdentityDetail:
    """An identity by its ID, its slug or its name."""
    for one in found:
        if name == one.id or name.lower() in (one.slug.lower(), one.name.lower()):
            return one
    renamed = _renamed(client, name)
    if renamed is not None:
        return renamed
    slugs = ', '.join(one.slug for one in found) or 'none'
    raise UsageError(f'No identity is called {printable(name)}. Your key may use: {printable(slugs)}.')


@cache
def _renamed(client: Client, name: str) -> IdentityDetail | None:
    """Only the service knows the slugs of before. An older one has no such route."""
    with suppress(IdentityNotFound, IdentityMismatch, NotFound):
        return client.get_identity(name)
    return None


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
