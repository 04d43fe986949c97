// SPDX-License-Identifier: GPL-2.0
/* For tests/hooks/test: a gate that lets pass whose checksum field is zero. */
struct sk_buff *udp_gro_receive(struct list_head *head, struct sk_buff *skb,
				struct udphdr *hdr, struct sock *sk)
{
	struct napi_gro_cb *cb = NAPI_GRO_CB(skb);
	struct sk_buff *held = NULL;

	if (!sk)
		goto out;
	if (cb->encap_mark ||
	    (hdr->check && skb->ip_summed != CHECKSUM_PARTIAL &&
	     cb->csum_cnt == 0 && !cb->csum_valid))
		goto out;
	held = tunnel_receive(sk, head, skb);
out:
	return held;
}
