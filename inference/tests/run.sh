#!/usr/bin/env bash
# All that judges the model server: `bash inference/tests/run.sh PYTHON`, with a Python that has the packages of
# requirements.txt and tests/requirements.txt. The service's own packages (npm ci) must be there too.
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

model=$(mktemp -d)
trap 'rm -rf "$model"' EXIT
"$python" -m random_models sdxl "$model" --ip-adapter
cd ..
MODEL_SERVER_PYTHON=$python MODEL_SERVER_MODEL_DIR=$model npm run jest -- --selectProjects model-contract --runInBand
