#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The X520 model under QEMU's generic-fuzz for ten minutes.
exec "$(dirname "${BASH_SOURCE[0]}")/../x520/test/generic-fuzz"
