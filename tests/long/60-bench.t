#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What receiving costs, against limits: make bench-quick.
exec "$(dirname "${BASH_SOURCE[0]}")/../bench/bench" --quick
