// SPDX-License-Identifier: GPL-2.0
/* For tests/hooks/test: refuses those without a checksum. */
struct sk_buff *udp_gro_receive(struct list_head *head, struct sk_buff *skb,
				struct udphdr *hdr, struct sock *sk)
{
	if (!hdr->check && skb->ip_summed != CHECKSUM_PARTIAL &&
	    NAPI_GRO_CB(skb)->csum_cnt == 0 && !NAPI_GRO_CB(skb)->csum_valid)
		return NULL;
	return tunnel_receive(sk, head, skb);
}
