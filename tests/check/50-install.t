#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# make install, and the package through a kernel upgrade, failures and removal.
exec "$(dirname "${BASH_SOURCE[0]}")/../install/test"
