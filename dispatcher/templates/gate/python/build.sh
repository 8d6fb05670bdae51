#!/bin/sh
# Makes {{component}} of gate.py and what it imports. The tools go into .venv, once.
set -eu
cd "$(dirname "$0")"
if [ ! -x .venv/bin/componentize-py ]; then
    python3 -m venv .venv
    .venv/bin/pip install --quiet --require-hashes --requirement requirements.txt
fi
exec .venv/bin/componentize-py --quiet --wit-path wit --world powers componentize gate --output {{component}}
