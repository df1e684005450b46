# shellcheck shell=bash
# For the scripts beside it: strict mode, the project's folder, and one line for each step.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset PYTHONDONTWRITEBYTECODE # thousands of short processes would each compile the same libraries

tenths_of_seconds() { # now, in tenths of a second
    local now=${EPOCHREALTIME/[.,]/}
    echo $((now / 100000))
}

# The middleware that a build would find here, each with its version: what was built without one is to be built anew when
# it is there, and the other way round.
middleware_here() {
    local module
    for module in libzmq omniORB4 CycloneDDS; do
        echo "$module $(pkg-config --modversion "$module" 2>/dev/null)"
    done
    command -v idlc omniidl c++ || true
}

# step NAME COMMAND…: runs the command quietly and prints one line: the name, the time it took, and the command's
# last line if that starts with "= ". What it printed goes to a log; when it fails, the end of the log is shown.
step() {
    local name=$1 log started status took remark
    shift
    log=${name//[^a-zA-Z0-9]/-}
    log=build/log/${log:0:100}.log # a list of packages is longer than the name of a file may be
    mkdir -p build/log
    printf '  %-46s ' "$name"
    started=$(tenths_of_seconds)
    set +e # "if ! (…)" would switch errexit off inside, too
    (
        set -e
        "$@"
    ) >"$log" 2>&1 </dev/null
    status=$?
    set -e
    if ((status)); then
        printf 'failed\n\n'
        tail -n 40 "$log" >&2
        printf '\n%s failed: %s. All it said is in %s\n' "${0##*/}" "$name" "$PWD/$log" >&2
        return 1
    fi
    took=$(($(tenths_of_seconds) - started))
    remark=$(tail -n 1 "$log" | sed -n 's/^= /  /p')
    printf '%3d.%d s%s\n' $((took / 10)) $((took % 10)) "$remark"
}
