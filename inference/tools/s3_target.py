"""A place in S3, by way of the AWS CLI: its own settings for credentials, region and large files hold."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .model_folder import PackagingError

#: What the operator puts beside a model: what images are signed with, and what pictures are checked with.
OPERATORS_FILES = ('c2pa/', 'picture-check/')

_URI = re.compile(r's3://(?P<bucket>[a-z0-9.-]{3,63})/(?P<prefix>(?:.+/)?)')


@dataclass(frozen=True)
class Target:
    """Everything below one prefix, which is empty or ends in `/`."""

    bucket: str
    prefix: str

    @staticmethod
    def parse(uri: str) -> 'Target':
        """Raises PackagingError."""
        match = _URI.fullmatch(uri)
        if not match:
            raise PackagingError(
                'The target must be an S3 prefix that ends in "/", as s3://bucket/models/sdxl/.'
            )
        return Target(match['bucket'], match['prefix'])

    def __str__(self) -> str:
        return f's3://{self.bucket}/{self.prefix}'

    def paths(self) -> set[str]:
        """All that lies there, as paths below the prefix. Raises PackagingError."""
        where = ['--bucket', self.bucket, '--prefix', self.prefix]
        text = run_aws('s3api', 'list-objects-v2', *where, '--output', 'json')
        # Of an empty prefix the CLI prints nothing at all.
        listed = json.loads(text.strip() or '{}').get('Contents') or []
        return {each['Key'].removeprefix(self.prefix) for each in listed if not each['Key'].endswith('/')}

    def sha256(self, path: str) -> str | None:
        """What the file's upload noted; None for one that something else put there. Raises PackagingError."""
        where = ['--bucket', self.bucket, '--key', self.prefix + path]
        text = run_aws('s3api', 'head-object', *where, '--output', 'json')
        noted: str | None = json.loads(text).get('Metadata', {}).get('sha256')
        return noted

    def put(self, file: Path, path: str, sha256: str) -> None:
        """Uploads one file. Raises PackagingError."""
        quiet = [] if sys.stdout.isatty() else ['--no-progress']
        run_aws('s3', 'cp', str(file), f'{self}{path}', '--metadata', f'sha256={sha256}', *quiet, show=True)


def run_aws(*arguments: str, show: bool = False) -> str:
    """What the AWS CLI prints; with `show` it prints to the terminal instead. Raises PackagingError."""
    command = ['aws', *arguments]
    try:
        done = subprocess.run(
            command, stdout=None if show else subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False
        )
    except FileNotFoundError:
        raise PackagingError('The AWS CLI is not installed: there is no command "aws".') from None
    if done.returncode != 0:
        raise PackagingError(f'This failed: {" ".join(command)}\n{done.stderr.strip()}')
    return done.stdout or ''


def plan_upload(target: Target, hashes: dict[str, str]) -> list[str]:
    """What is not there yet, in the order of `hashes`, where `model.json` is last. Raises PackagingError."""
    there = target.paths()
    strange = sorted(path for path in there - hashes.keys() if not path.startswith(OPERATORS_FILES))
    if strange:
        raise PackagingError(
            f'{target} holds what is not of this model: {", ".join(strange[:10])}. '
            'Instances would copy it, too. Choose an empty prefix, or delete those.'
        )
    if 'model.json' in there and target.sha256('model.json') != hashes['model.json']:
        raise PackagingError(
            f'{target} holds another model, or this one under another name. Instances that start later would '
            'have another one than those that run. Choose a new prefix.'
        )
    return [path for path, sha256 in hashes.items() if path not in there or target.sha256(path) != sha256]
