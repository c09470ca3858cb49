#!/bin/sh
# What cargo calls in place of rustc for this workspace's crates (RUSTC_WORKSPACE_WRAPPER): clippy, which compiles what it has
# checked. So dependencies are compiled once, and not checked beforehand. A warning is an error.
exec clippy-driver "$@" -D warnings
