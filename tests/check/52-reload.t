#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# scripts/reload swaps the driver both ways, and goes back when it has to.
exec "$(dirname "${BASH_SOURCE[0]}")/../reload/run"
