#!/usr/bin/env bash
# Fetches S3Proxy, an S3 server that checks signatures and keeps its objects in memory, as one jar by Maven into a cache
# outside of the repository, and prints its path. Some 20 seconds the first time, nothing after it. Needs Maven and Java 17.
set -euo pipefail
version=4.1.0
sha256=a4d025969aaf796616ed4b1e2491d87d455ce84bb28cb9db086b2e6aaa68b48d
cache="${XDG_CACHE_HOME:-$HOME/.cache}/cellport-tests"
jar="$cache/s3proxy-$version.jar"
if [ ! -f "$jar" ]; then
  mkdir -p "$cache"
  fetched=$(mktemp -d "$cache/fetching.XXXXXX")
  trap 'rm -rf "$fetched"' EXIT
  mvn --batch-mode --quiet "-Dmaven.repo.local=$fetched" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get \
    -Dtransitive=false "-Dartifact=org.gaul:s3proxy:$version:jar:jar-with-dependencies" >&2
  found=$(find "$fetched" -name "s3proxy-$version-jar-with-dependencies.jar")
  echo "$sha256  $found" | sha256sum --check --quiet >&2
  mv "$found" "$jar"
fi
echo "$jar"
