// SPDX-License-Identifier: GPL-2.0
// Seam: receive
// File: ixgbe_main.c
// Needs: ixgbe_process_skb_fields ixgbe_rx_skb
// Shape: one receive function
// Adds: 1 zcg_takes
// Shape: two of them, for one buffer or several, and FCoE apart
// Adds: 3 zcg_takes
//
// Every frame that becomes an sk_buff is completed by ixgbe_process_skb_fields()
// and handed to the stack by ixgbe_rx_skb(), whatever way it came (build_skb,
// legacy-rx, several buffers, macvlan rings). In between the fork may raise what
// the in-box driver reported, or deliver the frame itself. The descriptor is
// still the frame's: none is given back to the card before the next one is read.
// With the flags off this is one predictable branch.

@receive@
expression ring, desc, skb;
@@
ixgbe_process_skb_fields(ring, desc, skb)

@@
expression receive.ring, receive.desc, receive.skb;
expression list arguments;
@@
-ixgbe_rx_skb(arguments);
+if (!zcg_takes(ring, desc, skb))
+	ixgbe_rx_skb(arguments);
