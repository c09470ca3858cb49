#!/bin/sh
# Makes PoCL compile kernels without optimisation, for the tests that .config/nextest.toml names.
echo POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable >>"$NEXTEST_ENV"
