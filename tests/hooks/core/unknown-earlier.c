// SPDX-License-Identifier: GPL-2.0
/* For tests/hooks/test: looks gated, but asks for the checksum field before. */
struct sk_buff *udp_gro_receive(struct list_head *head, struct sk_buff *skb,
				struct udphdr *hdr, struct sock *sk)
{
	if (!hdr->check)
		goto pass;
	if (skb->ip_summed != CHECKSUM_PARTIAL &&
	    NAPI_GRO_CB(skb)->csum_cnt == 0 && !NAPI_GRO_CB(skb)->csum_valid)
		return NULL;
pass:
	return tunnel_receive(sk, head, skb);
}
