#!/usr/bin/env bash
# Fetches promtool from Debian's package of Prometheus into a cache outside of the repository, and prints its path. Nothing
# is installed or started. Some seconds the first time, nothing after it. Needs apt and dpkg.
set -euo pipefail
cache="${XDG_CACHE_HOME:-$HOME/.cache}/cellport-tests"
if [ ! -x "$cache/promtool" ]; then
  mkdir -p "$cache"
  fetched=$(mktemp -d "$cache/fetching.XXXXXX")
  trap 'rm -rf "$fetched"' EXIT
  get() { apt-get download -qq prometheus; }
  (cd "$fetched" && { get || { apt-get update -qq && get; }; } && dpkg -x prometheus_*.deb .) >&2
  mv "$fetched/usr/bin/promtool" "$cache/promtool"
fi
echo "$cache/promtool"
