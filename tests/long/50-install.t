#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The package on the other suites, and on bookworm with all builds in the machine.
exec "$(dirname "${BASH_SOURCE[0]}")/../install/test" suites guest
