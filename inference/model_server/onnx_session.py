"""How networks in ONNX files run here: on the CPU, beside the GPU's work, with the same bits each time."""

from pathlib import Path
from typing import Any


def open_session(model: Path | bytes, threads: int) -> Any:
    """
    One number of threads on all machines, since sums that are split in another way round differently.

    Raises what the library raises for a file that it cannot read.
    """
    # Only who has such a network needs the library.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    # The library promises it for GPUs only; on a CPU it is the fixed number of threads that counts.
    options.use_deterministic_compute = True
    # BiRefNet needs gigabytes for a moment. An arena would keep them.
    options.enable_cpu_mem_arena = False
    # Waiting threads would otherwise spin beside the thread that feeds the GPU.
    options.add_session_config_entry('session.intra_op.allow_spinning', '0')
    options.log_severity_level = 3
    source = str(model) if isinstance(model, Path) else model
    return onnxruntime.InferenceSession(source, options, providers=['CPUExecutionProvider'])
