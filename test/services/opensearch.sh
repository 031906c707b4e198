#!/usr/bin/env bash
# A real OpenSearch of one node from Maven Central, for tests.
#   opensearch.sh install            fetches 71 MB into a cache outside of the repository, once
#   opensearch.sh run FOLDER [PORT]  runs it on 127.0.0.1 with its data in FOLDER until standard input ends, and writes its
#                                    port to FOLDER/http.port once it answers, which takes 4 to 14 seconds
# Needs Maven and a JDK: 17 for OpenSearch 2, 21 or later for 3. OPENSEARCH_VERSION and OPENSEARCH_JAVA_HOME choose others.
set -euo pipefail
version=${OPENSEARCH_VERSION:-2.19.6}
here=$(cd "$(dirname "$0")" && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/cellport-tests/opensearch-$version"

skip() {
  echo "SKIPPED: no OpenSearch, because there is no $1" >&2
  exit 1
}

java_home() {
  if [ -n "${OPENSEARCH_JAVA_HOME:-}" ]; then echo "$OPENSEARCH_JAVA_HOME"; return; fi
  command -v javac >/dev/null || skip 'JDK (javac)'
  dirname "$(dirname "$(readlink -f "$(command -v javac)")")"
}

pom() {
  local log4j=2.25.3
  [ "${version%%.*}" -eq 2 ] && log4j=2.25.4
  echo '<project><modelVersion>4.0.0</modelVersion><groupId>cellport</groupId><artifactId>opensearch</artifactId>'
  echo '<version>1</version><packaging>pom</packaging><dependencies>'
  dependency() {
    echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version>${4:-}</dependency>"
  }
  dependency org.opensearch opensearch "$version"
  dependency org.opensearch opensearch-plugin-classloader "$version"
  # Its QUIC codec has binaries that are not on Maven Central.
  dependency org.opensearch.plugin transport-netty4-client "$version" \
    '<exclusions><exclusion><groupId>io.netty</groupId><artifactId>netty-codec-native-quic</artifactId></exclusion></exclusions>'
  for module in analysis-common mapper-extras-client reindex-client geo lang-painless opensearch-scripting-painless-spi; do
    dependency org.opensearch.plugin "$module" "$version"
  done
  # OpenSearch declares them optional, but does not start without them.
  dependency org.apache.logging.log4j log4j-core "$log4j"
  dependency org.locationtech.jts jts-core 1.15.0
  dependency org.locationtech.spatial4j spatial4j 0.7
  echo '</dependencies></project>'
}

install() {
  local java fetched
  java=$(java_home)
  if [ ! -e "$cache/lib" ]; then
    command -v mvn >/dev/null || skip 'Maven (mvn)'
    mkdir -p "$(dirname "$cache")"
    fetched=$(mktemp -d "$cache.XXXXXX")
    pom >"$fetched/pom.xml"
    mvn --batch-mode --quiet -f "$fetched/pom.xml" \
      org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies "-DoutputDirectory=$fetched/lib" >&2
    mkdir -p "$cache"
    mv -T "$fetched/lib" "$cache/lib"
    rm -r "$fetched"
  fi
  # Again if the source has changed since.
  if ! cmp -s "$here/OpenSearchNode.java" "$cache/OpenSearchNode.java"; then
    "$java/bin/javac" -nowarn -Xlint:none -cp "$cache/lib/*" -d "$cache/classes" "$here/OpenSearchNode.java" 2>"$cache/javac.log" ||
      { cat "$cache/javac.log" >&2; exit 1; }
    cp "$here/OpenSearchNode.java" "$cache/OpenSearchNode.java"
  fi
}

run() {
  local folder java
  java=$(java_home)
  mkdir -p "$1/config"
  folder=$(realpath "$1")
  exec "$java/bin/java" -Xms512m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -Dopensearch.set.netty.runtime.available.processors=false -Dlog4j2.level=WARN \
    -cp "$cache/classes:$cache/lib/*" OpenSearchNode "$folder" "${2:-0}"
}

case "${1:-}" in
  install) install ;;
  run) shift; install; run "$@" ;;
  *) sed -n '2,6s/^# //p' "$0" >&2; exit 2 ;;
esac
