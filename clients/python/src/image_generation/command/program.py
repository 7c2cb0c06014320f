"""Runs `imagegen`: each failure is one sentence and an exit code."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence

from image_generation import (
    ApiError,
    Client,
    ConnectionError,
    CreditLimitExceeded,
    DownloadError,
    InvalidApiKey,
    TimeoutError,
    UploadError,
)

from . import commands
from .arguments import masked, parser
from .configuration import UsageError, read_configuration

_commands: dict[str, Callable[[Client, Namespace], int | None]] = {
    'generate': commands.generate,
    'quote': commands.quote,
    'list': commands.list_,
    'get': commands.get,
    'delete': lambda client, args: commands.delete(
        client, args, lambda error, about: _tell(args.json, error, about)
    ),
    'identities': commands.identities,
}


# A person who waits without a word for minutes thinks that the command hangs.
_max_retries = 3


def run() -> None:
    """The command's entry."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Runs a command. Returns its exit code."""
    args = parser().parse_args(arguments)
    try:
        if args.command == 'configure':
            commands.configure(args)
            return 0
        configuration = read_configuration(args.base_url)
        with Client(configuration.api_key, configuration.base_url, max_retries=_max_retries) as client:
            exit_code = _commands[args.command](client, args) or 0
        sys.stdout.flush()
        return exit_code
    except BrokenPipeError:
        # Whoever read the output has enough. Python would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _tell(args.json, error)


def _tell(as_json: bool, error: Exception, about: str = '') -> int:
    exit_code, code, sentence = _explained(error)
    sentence = masked(about + sentence)
    if as_json:
        print(json.dumps({'error': sentence, 'code': code}), file=sys.stderr)
    else:
        print(f'imagegen: {commands.printable(sentence)}', file=sys.stderr)
    return exit_code


def _explained(error: Exception) -> tuple[int, str, str]:
    """The exit code, a code for programs, and a sentence that says what to change."""
    if isinstance(error, ApiError):
        return 1, error.code, _refusal(error)
    if isinstance(error, UploadError | DownloadError):
        return 1, error.code or 'STORAGE', str(error)
    if isinstance(error, commands.Interrupted):
        return 130, 'INTERRUPTED', str(error)
    if isinstance(error, UsageError | ValueError):
        return 2, 'USAGE', str(error)
    if isinstance(error, TimeoutError):
        more = f' See "imagegen get --wait {error.request_id}".' if error.request_id else ' Try again.'
        return 3, 'NO_ANSWER', f'{error}{more}'
    if isinstance(error, ConnectionError):
        return 3, 'NO_ANSWER', f'{error} Check the network and the base URL.'
    if isinstance(error, OSError) and error.filename is not None:
        return 2, 'USAGE', f'{error.filename}: {error.strerror}.'
    raise error


def _refusal(error: ApiError) -> str:
    """The service's own sentence, and what this command can add."""
    sentence = str(error)
    if isinstance(error, InvalidApiKey):
        sentence = 'The API key is invalid, expired or revoked. Set another: imagegen configure.'
    elif error.retry_after_seconds is not None and not isinstance(error, CreditLimitExceeded):
        sentence = f'{sentence} Try again in {error.retry_after_seconds} s.'
    named = f', request {error.request_id}' if error.request_id else ''
    return f'{sentence} ({error.code}{named})'
