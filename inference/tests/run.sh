#!/usr/bin/env bash
# All that judges the model server from inside: `bash inference/tests/run.sh PYTHON`, with a Python that has the packages of
# requirements.txt and tests/requirements.txt. What judges it over HTTP is contract.sh.
set -euo pipefail
python=$1
cd "$(dirname "$0")/.."
# Compiled modules are kept: without them each of the processes that load PyTorch takes 10 seconds longer.
unset PYTHONDONTWRITEBYTECODE
# Tiny models are slower on several threads than on one.
export OMP_NUM_THREADS=1
# PyTorch's compiler takes the processor at its word: to try out what it can takes 10 seconds.
export TORCHINDUCTOR_VEC_ISA_OK=1

"$python" -m ruff format --check .
"$python" -m ruff check .
"$python" -m mypy
"$python" -m pytest -q -p no:cacheprovider
