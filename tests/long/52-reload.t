#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# scripts/reload on the kernels that make check leaves out.
exec "$(dirname "${BASH_SOURCE[0]}")/../reload/run" gated-5.10 debian11 debian13 backports
