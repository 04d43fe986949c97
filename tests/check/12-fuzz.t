#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The policy under libFuzzer with ASan and UBSan, against the unit tests' oracle.
exec make --no-print-directory -s -C "$(dirname "${BASH_SOURCE[0]}")/../unit" fuzz SECONDS=60
