#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The X520 model under AddressSanitizer and UBSan, misused for ten minutes.
exec "$(dirname "${BASH_SOURCE[0]}")/../x520/test/sanitize"
