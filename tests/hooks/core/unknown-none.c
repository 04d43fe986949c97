// SPDX-License-Identifier: GPL-2.0
/* For tests/hooks/test: no such function. */
struct sk_buff *udp4_gro_receive(struct list_head *head, struct sk_buff *skb)
{
	if (skb->ip_summed != CHECKSUM_PARTIAL &&
	    NAPI_GRO_CB(skb)->csum_cnt == 0 && !NAPI_GRO_CB(skb)->csum_valid)
		return NULL;
	return tunnel_receive(head, skb);
}
