#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What people build upon a port, on gated-5.10.
exec "$(dirname "${BASH_SOURCE[0]}")/../lab/selftests" gated-5.10 setups
