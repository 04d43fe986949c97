#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Every test of the X520 model under the in-box driver of every kernel.
exec "$(dirname "${BASH_SOURCE[0]}")/../x520/test/run" --full gated-5.10 debian11 debian12 debian13 backports
