#!/bin/sh
# Makes heater.fmu in this folder: an FMU is an archive with a library and its description.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
case $(uname -m) in x86_64) platform=linux64 ;; *) platform=$(uname -m)-linux ;; esac
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir -p "$made/binaries/$platform"
cc -O2 -Wall -Wextra -shared -fPIC -o "$made/binaries/$platform/heater.so" "$here/heater.c"
cp "$here/heater.xml" "$made/modelDescription.xml"
rm -f heater.fmu
out=$PWD/heater.fmu
(cd "$made" && python3 -m zipfile -c "$out" modelDescription.xml binaries)
