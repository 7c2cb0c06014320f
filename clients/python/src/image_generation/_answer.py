"""What all answers of the service have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict
from typing_extensions import Self

from ._client_errors import ImageGenerationError

# Whoever has a signed link has what it opens, and prompts are private.
_unprinted = {
    'outputs',
    'output_url',
    'url',
    'fields',
    'prompt',
    'effective_prompt',
    'negative_prompt',
    'key',
}


class Answer(BaseModel):
    """An answer, whose members are read-only. Members that this version does not know are ignored.

    `model_dump(mode='json', by_alias=True)` gives it back with the service's own names.
    """

    # Pydantic would keep names that begin with `model_` for itself, and the service has some.
    model_config = ConfigDict(frozen=True, extra='ignore', populate_by_name=True, protected_namespaces=())

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """What `repr` shows, which often ends in a log."""
        return [(name, value) for name, value in super().__repr_args__() if name not in _unprinted]


class Shared:
    """What an answer and its copies share. It has the key and open connections, so it is not pickled."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[type[_Unpickled], tuple[()]]:
        return (_Unpickled, ())


class _Unpickled:
    def __getattr__(self, name: str) -> Any:
        # Python asks whether these are there.
        if name.startswith('__'):
            raise AttributeError(name)
        raise ImageGenerationError(
            'What was unpickled has no client. Fetch the request by its ID with another.'
        )
