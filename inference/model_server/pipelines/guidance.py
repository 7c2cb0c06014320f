"""What the API's guidance scale means to a model."""

#: The scale that a request has by default.
USUAL_SCALE = 7.5


def map_guidance(scale: float, none: float, recommended: float) -> float:
    """
    The number that a model's pipeline takes for the API's `scale`, 1 … 20.

    On a straight line: 1 is `none`, the pipeline's number without guidance, and 7.5, the API's default, is
    what the model's authors recommend. So who does not choose gets the model as it is meant.
    """
    return none + (recommended - none) * (scale - 1) / (USUAL_SCALE - 1)
