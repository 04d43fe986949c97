#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The hooks match every kernel's ixgbe, and stop the build where they don't. The
# sources come from the lab's roots.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for root in debian11 debian12 debian13 backports; do
	tests/lab/lab root "$root" > /dev/null
done
exec tests/hooks/test
