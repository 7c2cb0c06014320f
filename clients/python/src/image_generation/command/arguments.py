"""The arguments of `imagegen`."""

from __future__ import annotations

import argparse
import re
import sys
from typing import NoReturn

from image_generation import __version__

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
    _add_parameters(command('quote', 'tell what generate would cost; nothing is charged'))
    _add_list(command('list', 'list requests, newest first'))
    _add_get(command('get', 'show a request, and save its images with -o'))
    _add_delete(command('delete', 'delete requests with their images and prompts, for good'))
    command('identities', 'list the identities that the key may use')
    command('configure', 'ask for the key, and keep it in a file')
    return top


def _add_generate(command: argparse.ArgumentParser) -> None:
    _add_parameters(command)
    output = 'a file, or a folder; IDENTITY-SEED.png by default'
    command.add_argument('-o', '--output', metavar='PATH', help=output)
    command.add_argument('--idempotency-key', metavar='KEY', help='repeat the command with it, and pay once')
    command.add_argument('--no-show', action='store_true', help='do not show images in the terminal')
    command.add_argument('-q', '--quiet', action='store_true', help='tell no progress')


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
    add('prompt', help='what to paint; - reads it from the input')
    add('-i', '--identity', metavar='NAME', required=True, help='who paints: see "imagegen identities"')
    add('--negative-prompt', metavar='TEXT', help='what to leave out')
    add('--width', type=int, metavar='PX')
    add('--height', type=int, metavar='PX')
    add('-n', '--num-outputs', type=int, metavar='N', help='how many images')
    add('--seed', type=int, metavar='N', help='the same seed makes the same image')
    add('--steps', type=int, metavar='N', dest='num_inference_steps')
    add('--guidance-scale', type=float, metavar='X')
    add('--format', choices=['png', 'webp', 'jpeg'], dest='output_format')
    words = 'a reference image; up to four'
    add('-r', '--reference', action='append', default=[], metavar='FILE|URL', help=words)
    add('--exact-product', action='store_true', help='keep the product of the reference images')
    add('--preserve-branding', action='store_true', help='keep logos and labels accurate')


def prompt_of(text: str) -> str:
    """The prompt, from the input where it is `-`."""
    return sys.stdin.read().strip() if text == '-' else text
