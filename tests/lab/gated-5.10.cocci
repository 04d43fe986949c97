// SPDX-License-Identifier: GPL-2.0
//
// The gate of cores before mainline 89e5c58fc1e2, which stable releases of
// 5.10 have too: udp_gro_receive() lets a frame climb through a tunnel's GRO
// only if something vouched for a checksum. The fix excepts frames whose UDP
// checksum field is zero; take that exception out again.

@gate@
identifier uh, skb;
@@
 udp_gro_receive(...)
 {
 <...
-	uh->check && skb->ip_summed != CHECKSUM_PARTIAL
+	skb->ip_summed != CHECKSUM_PARTIAL
 ...>
 }
