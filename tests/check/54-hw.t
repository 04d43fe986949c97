#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# make check-hw, in the lab: two ports of one machine, and a peer over ssh.
exec "$(dirname "${BASH_SOURCE[0]}")/../hw/test"
