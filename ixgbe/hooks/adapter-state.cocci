// SPDX-License-Identifier: GPL-2.0
// Seam: state of a port
// File: ixgbe.h
// Adds: 1 struct zcg_adapter
// Adds: 1 "zcg.h"
// Needs: ixgbe_adapter
//
// The fork's state lives in the adapter, so that it comes and goes with it and
// is found from every ring without another pointer.

@@
@@
+#include "zcg.h"
+
struct ixgbe_adapter {
	...
+	struct zcg_adapter zcg;
};
