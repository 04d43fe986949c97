#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The lab's own promises: exit statuses, time-outs, panics, repeatable time.
exec "$(dirname "${BASH_SOURCE[0]}")/../lab/test"
