#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The fork's selftests on debian12.
exec "$(dirname "${BASH_SOURCE[0]}")/../lab/selftests" debian12
