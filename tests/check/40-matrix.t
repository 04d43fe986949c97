#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The fork's build and selftests on all kernels of the lab.
exec "$(dirname "${BASH_SOURCE[0]}")/../lab/matrix" --tap
