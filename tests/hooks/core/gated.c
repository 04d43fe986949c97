// SPDX-License-Identifier: GPL-2.0
/* For tests/hooks/test: a gate that takes no notice of the checksum field. */
struct sk_buff *udp_gro_receive(struct list_head *head, struct sk_buff *skb,
				struct udphdr *hdr, udp_lookup_t lookup)
{
	struct sk_buff *held = NULL;
	struct sk_buff *p;

	if (NAPI_GRO_CB(skb)->encap_mark)
		return held;
	if (skb->ip_summed != CHECKSUM_PARTIAL &&
	    NAPI_GRO_CB(skb)->csum_cnt == 0 && !NAPI_GRO_CB(skb)->csum_valid)
		return held;

	list_for_each_entry(p, head, list) {
		struct udphdr *before = udp_gro_udphdr(p);

		if (!hdr->check ^ !before->check)
			NAPI_GRO_CB(p)->same_flow = 0;
	}
	return tunnel_receive(head, skb);
}

/* Another function may ask what it likes. */
int udp_gro_complete(struct sk_buff *skb, int nhoff)
{
	struct udphdr *hdr = (struct udphdr *)(skb->data + nhoff);

	if (hdr->check && skb->ip_summed != CHECKSUM_PARTIAL &&
	    NAPI_GRO_CB(skb)->csum_cnt == 0 && !NAPI_GRO_CB(skb)->csum_valid)
		return 1;
	return 0;
}
