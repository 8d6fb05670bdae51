#!/bin/sh
# Makes protected-branches.wasm of gate.py and what it imports.
set -eu
cd "$(dirname "$0")"
exec .venv/bin/componentize-py --quiet --wit-path wit --world protected-branches componentize gate --output protected-branches.wasm
