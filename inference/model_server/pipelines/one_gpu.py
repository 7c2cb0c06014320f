"""One process paints with one GPU."""

from ..settings import SettingsError


def refuse_several_gpus(count: int) -> None:
    """
    Raises SettingsError when the process sees several GPUs: all but the first would be paid for and idle.

    One process for each GPU would need one queue before all of them, so that tenants still take turns.
    """
    if count > 1:
        raise SettingsError(
            f'This machine has {count} GPUs, and the model server paints with one: {count - 1} would be paid'
            ' for and idle. Take an instance type with one GPU, or choose a GPU with CUDA_VISIBLE_DEVICES.'
        )
