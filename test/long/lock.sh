#!/usr/bin/env bash
# Writes the lock beside each list of Python packages: the same versions, with the hashes of all their files. The lock is what is
# installed. Run it when a list has changed; `bash test/long/install.sh` brings uv along.
set -euo pipefail
cd "$(dirname "$0")/../.."

for list in test/long/uv.txt {clients/python,inference,inference/tests,test/emulated,test/long}/requirements*.txt; do
  .venv/bin/uv pip compile -q --universal --python-version 3.11 --no-deps --generate-hashes --no-annotate --custom-compile-command 'bash test/long/lock.sh' \
    "$list" -o "${list%.txt}.lock"
done
