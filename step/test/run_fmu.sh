#!/bin/sh
# Runs the FMU of this description with this tauto-step, with inputs of its own: `run_fmu.sh STEP DESCRIPTION`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$2" "$folder/description"
# Two rows of one input, of 8 bytes each, after 32 bytes: 0 and 1.
printf 'tautochrone-inputs 1 1 2\nu\n\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\360\077' >"$folder/inputs"
"$1" step --code known.fmu --unpacked "$folder" --inputs "$folder/inputs" --count 100 --period 2ms --overrun replay \
    --policy other --no-memory-lock --out /dev/null
