#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The fork's build and selftests on all kernels of the lab.
# Runs alone: it has as many guests at a time as there are processors.
exec "$(dirname "${BASH_SOURCE[0]}")/../lab/matrix" --tap
