#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The parser reads no byte that it must not, for all frames up to 128 bytes.
exec "$(dirname "${BASH_SOURCE[0]}")/../proof/run"
