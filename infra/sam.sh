#!/bin/sh
# Runs the SAM CLI from an environment of its own (it pins much), with the functions' Python on the PATH:
#   infra/sam.sh build
#   infra/sam.sh validate --lint
#   infra/sam.sh --python      prints that Python; it is looked for in RECOLLECT_PYTHON313, on the PATH, under pyenv
# build/sam-venv is made once per version. The layers' Makefiles learn the architecture from here: from
# Architecture=... in the arguments, else in samconfig.toml, else the template's default.
set -eu

VERSION=1.170.0
root=$(cd "$(dirname "$0")/.." && pwd)
venv="$root/build/sam-venv"

runtime_python() {
    for candidate in "${RECOLLECT_PYTHON313:-}" "$(command -v python3.13 || true)" \
        "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13*/bin/python3.13; do
        # A shim of pyenv is on the PATH also for a version that is not chosen, and then only prints an error.
        if [ -x "$candidate" ] && "$candidate" -c 'import pip, ssl, sys; sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null; then
            "$candidate" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    echo "sam.sh: Python 3.13 with pip, which the functions run on, is neither on the PATH nor under pyenv;" \
        "install it or set RECOLLECT_PYTHON313 to its path" >&2
    return 1
}

architecture() {
    pattern='^[^#]*Architecture(,ParameterValue)?=(arm64|x86_64).*'
    given=$(printf '%s\n' "$*" | sed -nE "s/$pattern/\\2/p")
    [ -n "$given" ] || given=$(sed -nE "s/$pattern/\\2/p" "$root/samconfig.toml" | head -n 1)
    echo "${given:-x86_64}"
}

RUNTIME_PYTHON=$(runtime_python)
if [ "${1:-}" = "--python" ]; then
    echo "$RUNTIME_PYTHON"
    exit
fi
if [ "$(cat "$venv/version" 2>/dev/null)" != "$VERSION" ]; then
    rm -rf "$venv"
    "$RUNTIME_PYTHON" -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check "aws-sam-cli==$VERSION" >&2
    echo "$VERSION" >"$venv/version"
fi
ARCH=$(architecture "$@")
PATH="$(dirname "$RUNTIME_PYTHON"):$PATH"
SAM_CLI_TELEMETRY=0
export ARCH PATH RUNTIME_PYTHON SAM_CLI_TELEMETRY
# The linter in SAM asks for a region; the template is the same in all of them. A deployment goes to the configured one,
# which the variable would hide.
if [ "${1:-}" = "validate" ]; then
    AWS_DEFAULT_REGION=${AWS_DEFAULT_REGION:-us-east-1}
    export AWS_DEFAULT_REGION
fi
cd "$root"
exec "$venv/bin/sam" "$@"
