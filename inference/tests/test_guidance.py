"""The API's guidance scale in a model's own numbers."""

from itertools import pairwise
from math import isfinite

import pytest

from model_server.pipelines.guidance import map_guidance

SCALES = [1 + step / 4 for step in range(77)]
# None and recommended: a pipeline that begins at 0, as Z-Image's, and others that begin at 1.
MODELS = [(0.0, 4.0), (1.0, 4.0), (1.0, 3.5), (1.0, 7.5)]


@pytest.mark.parametrize(('none', 'recommended'), MODELS)
def test_1_is_none_the_default_is_what_the_authors_recommend_and_more_is_more(
    none: float, recommended: float
) -> None:
    assert (SCALES[0], SCALES[-1]) == (1, 20)
    # Exactly, because pipelines compare it to see whether there is guidance at all.
    assert map_guidance(1, none, recommended) == none
    assert map_guidance(7.5, none, recommended) == recommended
    numbers = [map_guidance(scale, none, recommended) for scale in SCALES]
    assert all(low < high for low, high in pairwise(numbers))
    assert all(isfinite(number) for number in numbers)


def test_a_model_with_the_api_s_own_numbers_keeps_them() -> None:
    assert [map_guidance(scale, 1, 7.5) for scale in SCALES] == pytest.approx(SCALES)
