// SPDX-License-Identifier: GPL-2.0
// Seam: receive checksum
// File: ixgbe_main.c
// Adds: 1 __IXGBE_RX_ZCG
// Adds: 1 zcg_rx_checksum
// Needs: ixgbe_process_skb_fields ixgbe_rx_checksum
//
// ixgbe_process_skb_fields() is where all receive paths meet (build_skb,
// legacy-rx, frames over several buffers, AF_XDP's XDP_PASS, macvlan rings).
// The in-box verdict comes first and the fork may only raise it. The Ethernet
// header is still at skb->data. With the flag off this is one predictable
// branch.

@@
expression ring, desc, skb;
@@
ixgbe_process_skb_fields(...)
{
	<...
	ixgbe_rx_checksum(ring, desc, skb);
+	if (test_bit(__IXGBE_RX_ZCG, zcg_ring_state(ring)))
+		zcg_rx_checksum(ring, desc, skb);
	...>
}
