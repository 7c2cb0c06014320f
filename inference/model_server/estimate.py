"""How long a request takes, as far as that is known before."""

import time
from collections.abc import Callable

from .pipelines.engine import Engine, Order

# Weight of the newest output in the moving average of the pace.
_WEIGHT = 0.3


def size_of(outputs: int, evaluations: float, pixels: float, attention_per_megapixel: float) -> float:
    """
    The size of a request's work: outputs x evaluations x (megapixels + k x megapixels²).

    An evaluation takes time for each part of the picture, and its attention for each pair of parts; k is the
    second share at one megapixel, where the first is 1. What adapters and an IP-Adapter add to every
    evaluation is part of the measured pace.
    """
    megapixels = pixels / 1e6
    return outputs * evaluations * (megapixels + attention_per_megapixel * megapixels**2)


class Estimate:
    """The sizes of requests for one engine, and the measured seconds for each unit of size."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pace: float | None = None

    def size(self, order: Order) -> float:
        """The size of a request's work, all outputs together."""
        engine = self._engine
        evaluations, pixels = engine.evaluations(order), engine.pixels(order)
        return size_of(order.outputs, evaluations, pixels, engine.attention_per_megapixel)

    def seconds(self, size: float) -> float:
        """How long work of this size takes; 0 before anything was measured."""
        return size * (self._pace or 0)

    def learn(self, size: float, seconds: float, *, probe: bool = False) -> None:
        """Work of this size took so long. A probe that was quicker than estimated counts alone."""
        measured = seconds / size
        if self._pace is None or (probe and measured < self._pace):
            self._pace = measured
        else:
            self._pace += _WEIGHT * (measured - self._pace)


class Probes:
    """
    Which requests are tried although the estimate says that they cannot be ready in time.

    Nothing else would correct an estimate that is too high. But where the estimate was right, a probe costs
    other tenants time. So there is one in a while, and a tenant whose probe failed does not get the next one.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._last: tuple[float, str] | None = None
        self._succeeded = False

    def take(self, tenant: str) -> bool:
        """Whether a request of the tenant may be tried now; then it is the newest probe."""
        now = self._clock()
        if self._last is not None:
            at, last_tenant = self._last
            if now - at < self._seconds or (tenant == last_tenant and not self._succeeded):
                return False
        self._last, self._succeeded = (now, tenant), False
        return True

    def succeeded(self) -> None:
        """The newest probe was ready in time."""
        self._succeeded = True
