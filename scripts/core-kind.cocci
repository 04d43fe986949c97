// SPDX-License-Identifier: GPL-2.0
//
// Not a hook: marks in udp_gro_receive() the condition under which it refuses to
// let a frame climb through a tunnel's GRO; scripts/core-kind counts the marks.
// A gated core asks only whether something vouched for a checksum; an open one
// lets a frame through all the same whose checksum field is zero.

// Frames are merged only if all or none of them have a checksum: not the gate.
@@
expression one, other;
@@
udp_gro_receive(...)
{
	<...
-	!one->check ^ !other->check
+	zcg_alike
	...>
}

@@
expression uh, skb, cb;
@@
udp_gro_receive(...)
{
	<...
(
-	uh->check && skb->ip_summed != CHECKSUM_PARTIAL && cb->csum_cnt == 0 && !cb->csum_valid
+	zcg_core_open
|
-	uh->check && (skb->ip_summed != CHECKSUM_PARTIAL && cb->csum_cnt == 0 && !cb->csum_valid)
+	zcg_core_open
|
-	skb->ip_summed != CHECKSUM_PARTIAL && cb->csum_cnt == 0 && !cb->csum_valid
+	zcg_core_gated
)
	...>
}

// Whatever else is asked of a checksum field here, these rules don't know it.
@@
expression uh;
@@
udp_gro_receive(...)
{
	<...
-	uh->check
+	zcg_core_other
	...>
}
