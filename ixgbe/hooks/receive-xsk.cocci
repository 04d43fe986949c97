// SPDX-License-Identifier: GPL-2.0
// Seam: receive by AF_XDP
// File: ixgbe_xsk.c
// Optional: drivers before AF_XDP zero-copy have none
// Adds: 1 zcg_takes
// Needs: ixgbe_process_skb_fields ixgbe_rx_skb
//
// XDP_PASS on an AF_XDP zero-copy queue; see receive.cocci.

@receive_xsk@
expression ring, desc, skb;
@@
ixgbe_process_skb_fields(ring, desc, skb)

@@
expression receive_xsk.ring, receive_xsk.desc, receive_xsk.skb;
expression list arguments;
@@
-ixgbe_rx_skb(arguments);
+if (!zcg_takes(ring, desc, skb))
+	ixgbe_rx_skb(arguments);
