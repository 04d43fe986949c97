#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The sender in the emulator that the bench measures with.
exec "$(dirname "${BASH_SOURCE[0]}")/../lab/lab" run --icount --wire peer debian13 -- tests/bench/peer_test.py
