#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The build sees whether a kernel's core is gated or open.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/../hooks/core-test"
