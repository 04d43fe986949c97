#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# How much of include/ the unit tests reach.
exec "$(dirname "${BASH_SOURCE[0]}")/../unit/coverage"
