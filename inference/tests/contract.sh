#!/usr/bin/env bash
# Whether the model server keeps the contract with the service, with a small model: `bash inference/tests/contract.sh PYTHON`, with a
# Python that has the packages of requirements.txt. The service's own packages (npm ci) must be there too.
set -euo pipefail
python=$1
cd "$(dirname "$0")/.."
# Compiled modules are kept: without them each of the processes that load PyTorch takes 10 seconds longer.
unset PYTHONDONTWRITEBYTECODE
# Tiny models are slower on several threads than on one.
export OMP_NUM_THREADS=1

model=$(mktemp -d)
trap 'rm -rf "$model"' EXIT
"$python" -m random_models sdxl "$model" --ip-adapter
cd ..
MODEL_SERVER_PYTHON=$python MODEL_SERVER_MODEL_DIR=$model npm run jest -- --selectProjects model-contract --runInBand
