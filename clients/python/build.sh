#!/usr/bin/env bash
# Builds the Python client's wheel and source distribution in clients/python/dist. `bash test/long/install.sh` installs the builder.
set -euo pipefail
cd "$(dirname "$0")"

python=../../.venv-clients/bin/python
if [ ! -x "$python" ]; then
  echo 'The builder is missing: run "bash test/long/install.sh" first.' >&2
  exit 1
fi
rm -rf dist
"$python" -m build --no-isolation . > /dev/null
echo "The Python client was built: $(cd dist && echo *)."
