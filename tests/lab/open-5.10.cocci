// SPDX-License-Identifier: GPL-2.0
//
// The gate of gated-5.10.cocci left open, as the patch of seed S1 opened it and
// 89e5c58fc1e2 does: the line is changed in its looks only, so that the build can
// see, as for the gated kernel, that it found the place.

@gate@
identifier uh, skb;
@@
 udp_gro_receive(...)
 {
 <...
-	uh->check && skb->ip_summed != CHECKSUM_PARTIAL
+	uh->check != 0 && skb->ip_summed != CHECKSUM_PARTIAL
 ...>
 }
