"""Runs `imagegen`: its arguments, and each failure as one sentence and an exit code."""

from __future__ import annotations

import argparse
import json
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import NoReturn

from image_generation import (
    ApiError,
    Client,
    ConnectionError,
    CreditLimitExceeded,
    DownloadError,
    InvalidApiKey,
    NotFound,
    TimeoutError,
    UnexpectedAnswer,
    UploadError,
    __version__,
)

from . import commands
from .batch import batch
from .configuration import UsageError, read_configuration
from .output import formats
from .terminal import flush, prepare, say

_environment = """\
The API key is taken from IMAGE_API_KEY, or from the file that "imagegen configure" writes;
IMAGE_BASE_URL likewise. Exit codes: 0 done, 1 the service refused or failed, 2 wrong arguments
or configuration, 3 no answer, 130 interrupted."""


def masked(text: str) -> str:
    """Without keys, whoever typed them where."""
    return re.sub(r'svc_live_\w+', 'svc_live_…', text)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, masked(f'{self.prog}: {message}\nSee "{self.prog} --help".\n'))


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    form = argparse.RawDescriptionHelpFormatter
    words = 'Images by the image generation service.'
    top = _Parser(prog='imagegen', description=words, epilog=_environment, formatter_class=form)
    top.add_argument('--version', action='version', version=f'imagegen {__version__}')
    common = _Parser(add_help=False)
    common.add_argument('--base-url', metavar='URL', help='another service; ends in /api/v1')
    common.add_argument('--json', action='store_true', help='print JSON, for programs')
    commands = top.add_subparsers(dest='command', required=True, metavar='COMMAND')

    def command(name: str, words: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, parents=[common], help=words, description=words)

    _add_generate(command('generate', 'make images and save them'))
    _add_parameters(command('quote', 'say what generate would cost; nothing is charged'))
    _add_batch(command('batch', 'generate thousands of images, of a file with a request in each line'))
    _add_list(command('list', 'list requests, newest first'))
    _add_get(command('get', 'show a request, and save its images with -o'))
    _add_delete(command('delete', 'delete requests with their images and prompts, for good'))
    words = 'end a request that waits or runs, uncharged'
    command('cancel', words).add_argument('request_id', metavar='ID')
    words = 'upload a reference image, and print its ID, which is usable for an hour'
    command('upload', words).add_argument('file', metavar='FILE')
    command('usage', 'say what the key may still do: credits, budget, requests')
    command('identities', 'list the identities that the key may use')
    words = 'show an identity and its versions'
    command('identity', words).add_argument('identity', metavar='NAME')
    command('configure', 'ask for the key, and keep it in a file')
    return top


def _add_generate(command: argparse.ArgumentParser) -> None:
    _add_parameters(command)
    output = 'a file, whose ending chooses the format, or a folder/; IDENTITY-SEED.png by default'
    command.add_argument('-o', '--output', metavar='PATH', help=output)
    command.add_argument('--idempotency-key', metavar='KEY', help='repeat the command with it, and pay once')
    command.add_argument('--no-show', action='store_true', help='do not show images in the terminal')
    command.add_argument('-q', '--quiet', action='store_true', help='print no progress')


def _add_batch(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add('file', metavar='FILE', help='.jsonl, or .csv with a row of names: the members of a request')
    add('-o', '--output', metavar='DIR', required=True, help='gets the images and results.jsonl')
    _add_options(command, identity='the identity of lines without identityId')
    add('--dry-run', action='store_true', help='say what it costs and takes; nothing is charged')
    add('--skip-invalid', action='store_true', help='go on without lines that are wrong')
    add('--again', action='store_true', help='send lines again that were sent a day ago and not heard of')
    add('-y', '--yes', action='store_true', help='begin although there are too few credits for all')
    add('-q', '--quiet', action='store_true', help='print no progress')


def _add_list(command: argparse.ArgumentParser) -> None:
    command.add_argument('-l', '--limit', type=int, default=20, metavar='N', help='how many; 20 by default')
    statuses = ['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT']
    command.add_argument('--status', choices=statuses, type=str.upper, help='only those')
    command.add_argument('-i', '--identity', metavar='NAME', help='only those of this identity')


def _add_get(command: argparse.ArgumentParser) -> None:
    command.add_argument('request_id', metavar='ID')
    command.add_argument(
        '-o', '--output', metavar='PATH', help='save its images as this file, or in a folder'
    )
    command.add_argument('--wait', action='store_true', help='wait until it has ended')
    command.add_argument('--no-show', action='store_true', help='do not show images in the terminal')


def _add_delete(command: argparse.ArgumentParser) -> None:
    command.add_argument('request_ids', metavar='ID', nargs='+')
    command.add_argument('-y', '--yes', action='store_true', help='do not ask')


def _add_parameters(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add('prompt', help='what to generate; - reads it from the input')
    _add_options(command, required=True, identity='the identity: see "imagegen identities"')


def _add_options(command: argparse.ArgumentParser, identity: str, required: bool = False) -> None:
    add = command.add_argument
    add('-i', '--identity', metavar='NAME', required=required, help=identity)
    words = 'one of its versions: see "imagegen identity NAME"; by default the active one'
    add('--identity-version', type=int, metavar='N', help=words)
    add('--negative-prompt', metavar='TEXT', help='what to leave out')
    add('--width', type=int, metavar='PX')
    add('--height', type=int, metavar='PX')
    add('-n', '--num-outputs', type=int, metavar='N', help='how many images')
    add('--seed', type=int, metavar='N', help='the same seed makes the same image')
    add('--steps', type=int, metavar='N', dest='num_inference_steps')
    add('--guidance-scale', type=float, metavar='X')
    add('--format', choices=formats, dest='output_format', help='by default that of the output')
    words = 'a reference image; up to four'
    add('-r', '--reference', action='append', default=[], metavar='FILE|URL', help=words)
    add('--exact-product', action='store_true', help='keep the product of the reference images')
    add('--preserve-branding', action='store_true', help='keep logos and labels accurate')


_commands: dict[str, Callable[[Client, Namespace], int | None]] = {
    'generate': commands.generate,
    'quote': commands.quote,
    'batch': batch,
    'list': commands.list_,
    'get': commands.get,
    'delete': lambda client, args: commands.delete(
        client, args, lambda error, about: _report(args.json, error, about)
    ),
    'cancel': commands.cancel,
    'upload': commands.upload,
    'usage': commands.usage,
    'identities': commands.identities,
    'identity': commands.identity,
}


# A person who waits without a word for minutes thinks that the command hangs.
_max_retries = 3


def run() -> None:
    """The command's entry."""
    try:
        exit_code = main(sys.argv[1:])
    except KeyboardInterrupt:
        # A second one, while the first was reported.
        exit_code = 130
    sys.exit(exit_code)


def main(arguments: Sequence[str]) -> int:
    """Runs a command. Returns its exit code."""
    as_json = '--json' in arguments
    try:
        exit_code = _run(arguments)
    except BrokenPipeError as error:
        # Whoever reads the output has enough. A FIFO has a name.
        exit_code = 0 if error.filename is None else _report(as_json, error)
    except KeyboardInterrupt as error:
        exit_code = _report(as_json, error) if hasattr(error, 'advice') else 130
    except Exception as error:
        exit_code = _report(as_json, error)
    try:
        flush()
    except OSError as error:
        # What was reported already is not reported twice.
        exit_code = exit_code or _report(as_json, error)
    return exit_code


def _run(arguments: Sequence[str]) -> int:
    prepare()
    try:
        args = parser().parse_args(arguments)
    except SystemExit as end:
        # It has printed its help, or what is wrong.
        return int(end.code or 0)
    if args.command == 'configure':
        commands.configure(args)
        return 0
    configuration = read_configuration(args.base_url)
    with Client(configuration.api_key, configuration.base_url, max_retries=_max_retries) as client:
        return _commands[args.command](client, args) or 0


def _report(as_json: bool, error: BaseException, about: str = '') -> int:
    exit_code, code, sentence = _explained(error)
    sentence = masked(about + sentence).strip()
    request_id = getattr(error, 'request_id', None)
    if as_json:
        say(
            json.dumps({'error': sentence, 'code': code, **({'requestId': request_id} if request_id else {})})
        )
    else:
        say(f'imagegen: {commands.printable(sentence)}')
    return exit_code


def _explained(error: BaseException) -> tuple[int, str, str]:
    """The exit code, a code for programs, and a sentence that says what to change."""
    advice: str = getattr(error, 'advice', '')
    if isinstance(error, KeyboardInterrupt):
        return 130, 'INTERRUPTED', f'Interrupted. {advice}'
    if isinstance(error, ApiError):
        is_astray = isinstance(error, NotFound | UnexpectedAnswer) and error.status < 500
        return 2 if is_astray else 1, error.code, f'{_refusal(error)} {advice}'
    if isinstance(error, UploadError | DownloadError):
        return 1, error.code or 'STORAGE', f'{error} {advice}'
    if isinstance(error, UsageError | ValueError):
        return 2, 'USAGE', f'{error} {advice}'
    if isinstance(error, TimeoutError):
        see = f'See "imagegen get --wait {error.request_id}".' if error.request_id else 'Try again.'
        return 3, 'NO_ANSWER', f'{error} {advice or see}'
    if isinstance(error, ConnectionError):
        return 3, 'NO_ANSWER', f'{error} {advice or "Check the network and the base URL (IMAGE_BASE_URL)."}'
    if isinstance(error, EOFError):
        return 2, 'USAGE', 'The input ended.'
    if isinstance(error, OSError):
        # Only the output has no name. What is found after the payment is no wrong argument.
        is_output = advice != '' or error.filename is None
        exit_code, code = (1, 'OUTPUT') if is_output else (2, 'USAGE')
        return exit_code, code, f'{error.filename or "The output"}: {error.strerror or error}. {advice}'
    return 1, 'UNFORESEEN', f'This is a fault of the command. {type(error).__name__}: {error} {advice}'


def _refusal(error: ApiError) -> str:
    """The service's own sentence, and what this command can add."""
    sentence = str(error)
    if isinstance(error, InvalidApiKey):
        sentence = 'The API key is invalid, expired or revoked. Set another: imagegen configure.'
    elif isinstance(error, NotFound):
        sentence = 'The base URL (IMAGE_BASE_URL) leads to no API. It ends in /api/v1.'
    elif error.retry_after_seconds is not None and not isinstance(error, CreditLimitExceeded):
        sentence = f'{sentence} Try again in {error.retry_after_seconds} s.'
    named = f', request {error.request_id}' if error.request_id else ''
    return f'{sentence} ({error.code}{named})'
