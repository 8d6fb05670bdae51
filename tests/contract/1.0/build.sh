#!/bin/sh
# Builds witness.wasm anew, into target/ of the workspace, and says whether it is the one that is kept.
set -eu
cd "$(dirname "$0")"
target=$(cd ../../.. && pwd)/target/contract
export CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$PWD=.$(printf '\037')--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
cargo +1.95.0 build --locked --release --target wasm32-wasip2 --target-dir "$target"
cmp "$target/wasm32-wasip2/release/witness.wasm" witness.wasm && echo "the same"
