#!/usr/bin/env bash
# All that judges the Python client: `bash clients/python/tests/run.sh PYTHON`, with a Python that has the packages of
# requirements-dev.txt. The service's own packages (npm ci) must be there too.
set -euo pipefail
python=$1
cd "$(dirname "$0")/.."

"$python" -m ruff format --check .
"$python" -m ruff check .
"$python" -m mypy
# It would ask for a newer version of itself.
PYRIGHT_PYTHON_IGNORE_WARNINGS=1 "$python" -m pyright --pythonpath "$python"
"$python" -m pytest -q -p no:cacheprovider
