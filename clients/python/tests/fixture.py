"""A running service, its proxy that breaks connections, and calls by both kinds of clients."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from anyio.from_thread import BlockingPortal

from image_generation import _calls
from image_generation._generate import body_of

repository = Path(__file__).parents[3]

# The smallest and quickest picture, so that tests are about everything else.
size: dict[str, Any] = {'width': 512, 'height': 512, 'num_inference_steps': 20}
small: dict[str, Any] = {'prompt': 'a quiet test', **size}


def _small_body(function: str, parameters: Mapping[str, Any]) -> bytes:
    return body_of(function, {**({} if function == 'dry_run' else size), **parameters})


def generate_small(replace: Callable[[Any, str, Any], None] = setattr) -> None:
    """From now on what an example leaves out is small. Examples are for people, who want large images."""
    replace(_calls, 'body_of', _small_body)


@dataclass(frozen=True)
class Granted:
    """A license of a test's own, so that no test meets another's rate limit or credits."""

    key: str
    license_id: str
    base_url: str

    @property
    def environment(self) -> dict[str, str]:
        """What programs read."""
        return {'IMAGE_API_KEY': self.key, 'IMAGE_BASE_URL': self.base_url}


class Service:
    """The process of `test/support/client-fixture.ts`, which says what it understands."""

    def __init__(self, is_quick: bool = False) -> None:
        # What never finishes should not hold up the end.
        quick = ['quick'] if is_quick else []
        command = ['node_modules/.bin/node', 'test/support/client-fixture.ts', *quick, '--grace', '0']
        raised = f'--import={repository}/test/support/raise-limits.ts' if is_quick else ''
        self._process = subprocess.Popen(
            command,
            cwd=repository,
            env={**os.environ, 'NODE_OPTIONS': raised},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        ready = self._read()
        self.base_url: str = ready['baseUrl']
        self.proxy_url: str = ready['proxyUrl']
        self.identities: dict[str, str] = ready['identities']

    def grant(self, **options: Any) -> Granted:
        answer = self._ask({'grant': options})
        return Granted(answer['key'], answer['licenseId'], self.base_url)

    def totals(self, granted: Granted) -> tuple[int, int]:
        """How many credits were used, and how many are used or held."""
        answer = self._ask({'totals': granted.license_id})
        return answer['used'], answer['committed']

    def fates(self, *fates: Any) -> None:
        """What happens to the next requests to generate."""
        self._ask({'fates': fates})

    def seen(self) -> list[str]:
        """The requests that the proxy has seen since it was asked last. All fates must have been met."""
        answer = self._ask({'seen': True})
        assert answer['fates'] == []
        return cast(list[str], answer['seen'])

    def close(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0

    def _ask(self, command: object) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + '\n')
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, 'the service did not start: see what it printed'
        return json.loads(line)


class Caller:
    """Calls a client's functions, also those of AsyncClient, so that each test is of both."""

    def __init__(self, portal: BlockingPortal | None) -> None:
        self.portal = portal

    def __call__(self, function: Callable[..., Any], *args: Any, **more: Any) -> Any:
        if self.portal is None:
            return function(*args, **more)

        async def work() -> Any:
            result = function(*args, **more)
            return await result if inspect.isawaitable(result) else result

        return self.portal.call(work)

    def all(self, iterator: Iterable[Any] | AsyncIterable[Any]) -> list[Any]:
        """Everything that an iterator yields."""
        if isinstance(iterator, Iterable):
            return list(iterator)
        assert self.portal is not None

        async def work() -> list[Any]:
            return [one async for one in iterator]

        return self.portal.call(work)
