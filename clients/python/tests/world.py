"""A running service, its proxy that breaks connections, and both kinds of clients."""

from __future__ import annotations

import inspect
import json
import subprocess
from collections.abc import AsyncIterable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from anyio.from_thread import BlockingPortal

repository = Path(__file__).parents[3]

# The smallest and quickest picture, so that tests are about everything else.
small: dict[str, Any] = {'prompt': 'a quiet test', 'width': 512, 'height': 512, 'num_inference_steps': 20}


@dataclass(frozen=True)
class Granted:
    """A license of a test's own, so that no test meets another's rate limit or credits."""

    key: str
    license_id: str


class World:
    """The process of `test/support/client-fixture.ts`, which tells what it understands."""

    def __init__(self, *options: str) -> None:
        command = ['node_modules/.bin/node', 'test/support/client-fixture.ts', *options]
        self._process = subprocess.Popen(
            command, cwd=repository, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        ready = self._read()
        self.base_url: str = ready['baseUrl']
        self.proxy_url: str = ready['proxyUrl']
        self.identities: dict[str, str] = ready['identities']

    def grant(self, **options: Any) -> Granted:
        answer = self._ask({'grant': options})
        return Granted(answer['key'], answer['licenseId'])

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
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.read()
        self._process.stdout.close()
        assert self._process.wait() == 0

    def _ask(self, command: object) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + '\n')
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, 'the world did not start: see what it printed'
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
