#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The frame parser and the policy, in user space.
exec make --no-print-directory -s -C "$(dirname "${BASH_SOURCE[0]}")/../unit" check
