#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What scripts/zcg-top makes of samples, and of a bad command line; no port needed.
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../top/test"
