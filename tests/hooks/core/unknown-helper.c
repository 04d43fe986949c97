// SPDX-License-Identifier: GPL-2.0
/* For tests/hooks/test: the gate is in a function of its own. */
static bool may_climb(const struct udphdr *hdr, const struct sk_buff *skb)
{
	return skb->ip_summed == CHECKSUM_PARTIAL || NAPI_GRO_CB(skb)->csum_cnt;
}

struct sk_buff *udp_gro_receive(struct list_head *head, struct sk_buff *skb,
				struct udphdr *hdr, struct sock *sk)
{
	if (!may_climb(hdr, skb))
		return NULL;
	return tunnel_receive(sk, head, skb);
}
