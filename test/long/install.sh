#!/usr/bin/env bash
# Installs what `npm run test:long` needs beside the project's packages, on Debian: Chromium, ExifTool, curl, jq, Java, judges from
# npm and Maven, and four Python environments.
set -euo pipefail
cd "$(dirname "$0")/../.."

missing=()
command -v chromium-headless-shell > /dev/null || missing+=(chromium-headless-shell)
# Judges what pictures say of themselves.
command -v exiftool > /dev/null || missing+=(libimage-exiftool-perl)
# What the documentation's samples are written with.
for tool in curl jq; do command -v $tool > /dev/null || missing+=($tool); done
command -v javac > /dev/null || missing+=(default-jdk-headless)
command -v mvn > /dev/null || missing+=(maven)
python3 -c 'import ensurepip' 2> /dev/null || missing+=(python3-venv)
if [ ${#missing[@]} -gt 0 ]; then
  as_root=$([ "$(id -u)" = 0 ] || echo sudo)
  $as_root apt-get update -qq
  $as_root apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
fi

# Not among the project's packages: the license of one (AGPL) should not stand in their list, and the others bring hundreds of
# packages that only test/long needs.
cmp -s test/long/judges/package-lock.json test/long/judges/node_modules/installed.json || {
  npm ci --prefix test/long/judges
  cp test/long/judges/package-lock.json test/long/judges/node_modules/installed.json
}

judge=test/long/openai/java
cmp -s $judge/pom.xml $judge/libraries/pom.xml || {
  rm -rf $judge/libraries
  mvn -q -B -f $judge/pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory=libraries
  cp $judge/pom.xml $judge/libraries
}

# environment FOLDER LOCK…: a Python environment that has exactly what the locks say, to the byte.
unset VIRTUAL_ENV
environment() {
  local folder=$1
  shift
  # The copy is written last: an installation that was cut off, or of other versions, is made anew.
  cat "$@" | cmp -s - "$folder/installed.txt" && return
  python3 -m venv --clear "$folder"
  "$folder/bin/pip" install -q --disable-pip-version-check --require-hashes -r test/long/uv.lock
  "$folder/bin/uv" pip install -q --no-cache --no-deps --require-hashes --python "$folder/bin/python" "${@/#/--requirements=}"
  "$folder/bin/uv" pip check -q --python "$folder/bin/python"
  cat "$@" > "$folder/installed.txt"
}
environment .venv test/long/requirements.lock
# Apart, since it wants another version of AWS's SDK.
environment .venv-emulator test/emulated/requirements.lock
# What the Python client is tested and built with.
environment .venv-clients clients/python/requirements-dev.lock
# Once for all clones: PyTorch and CUDA's libraries are a download of 3 GB.
model_server=${XDG_CACHE_HOME:-$HOME/.cache}/image-generation-service/model-server
environment "$model_server" inference/requirements.lock inference/tests/requirements.lock
