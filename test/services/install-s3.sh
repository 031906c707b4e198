#!/usr/bin/env bash
# Builds versitygw, an S3 server over a folder, from its Go module into a cache outside of the repository and prints the
# path of the program. Needs Go 1.25 or newer; takes a minute or two the first time and nothing after it.
set -euo pipefail
version=v1.8.0
cache="${XDG_CACHE_HOME:-$HOME/.cache}/cellport-tests/versitygw-$version"
if [ ! -x "$cache/versitygw" ]; then
  mkdir -p "$cache"
  building=$(mktemp -d "$cache/building.XXXXXX")
  trap 'rm -rf "$building"' EXIT
  GOBIN="$building" go install "github.com/versity/versitygw/cmd/versitygw@$version" >&2
  mv "$building/versitygw" "$cache/versitygw"
fi
echo "$cache/versitygw"
