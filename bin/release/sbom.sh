#!/usr/bin/env bash
# Writes what the service and the model server's image consist of, as CycloneDX: `bash bin/release/sbom.sh FOLDER`.
# `bash test/long/install.sh` installs the tool for Python.
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."

# Not with --omit dev: npm 11 then leaves out zod and others that packages for development use too.
npm sbom --sbom-format cyclonedx --package-lock-only > "$folder/service.cdx.json"
.venv-clients/bin/cyclonedx-py requirements --pyproject inference/pyproject.toml --of JSON \
  -o "$folder/model-server.cdx.json" inference/requirements.lock
