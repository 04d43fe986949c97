#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What people build upon a port, on debian13.
exec "$(dirname "${BASH_SOURCE[0]}")/../lab/selftests" debian13 setups
