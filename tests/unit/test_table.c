// SPDX-License-Identifier: GPL-2.0
/*
 * The design's table "What the driver claims", row by row. Row 1: level 1.
 * Row 2: level 0, the inside cannot be checked or nobody profits. Row 3: level
 * 0, inner checksum wrong. Row 4: as in-box. Then what ZCG_F_DEFER makes of
 * them: level 0 and unread, or as without it. Expectations are written by hand;
 * each is also asked of the oracle, so that one tests the other.
 */
#include "unit.h"

struct row {
	const char *name;
	enum zcg_reason want;
	struct spec spec;
	void (*edit)(struct built *f);
	uint32_t flags;		/* toggled against ZCG_F_GRO alone */
};

/* edits outside */
static void o_udp_sum(struct built *f) { put16(f->b + f->udp + 6, 0x4711); }
static void o_more_frags(struct built *f) { f->b[f->ip + 6] |= 0x20; }
static void o_frag_off(struct built *f) { f->b[f->ip + 7] |= 1; }
static void o_reserved_bit(struct built *f) { f->b[f->ip + 6] |= 0x80; }
static void o_ihl_4(struct built *f) { f->b[f->ip] = 0x44; }
static void o_version_5(struct built *f) { f->b[f->ip] ^= 0x10; }
static void o_tcp(struct built *f) { f->b[f->ip + (f->spec.ov6 ? 6 : 9)] = 6; }
static void o_dstopt(struct built *f) { f->b[f->ip + 6] = 60; }
static void o_frag6(struct built *f) { f->b[f->ip + 6] = 44; }
static void o_arp(struct built *f) { put16(f->b + f->ip - 2, 0x0806); }
static void o_no_udp(struct built *f) { put16(f->b + f->ip + 2, f->udp + 7 - f->ip); }
static void o_only_udp(struct built *f) { outer_len(f, f->udp + 8); }
static void o_udp_short(struct built *f) { put16(f->b + f->udp + 4, f->end - f->udp - 1); }
static void o_udp_long(struct built *f) { put16(f->b + f->udp + 4, f->end - f->udp + 1); }
static void o_udp_zero_len(struct built *f) { put16(f->b + f->udp + 4, 0); }
static void o_ip_long(struct built *f) { outer_len(f, f->len + 1); }
static void o_cut(struct built *f) { f->len--; }
static void o_cut_in_udp(struct built *f) { f->len = f->udp + 7; }
static void o_half_tunnel(struct built *f) { outer_len(f, f->tun + 7); }
static void o_empty_tunnel(struct built *f) { outer_len(f, f->in); }
/* edits of the tunnel header */
static void t_no_i(struct built *f) { f->b[f->tun] &= ~8; }
static void t_rco(struct built *f) { f->b[f->tun + 1] |= 0x20; }
static void t_gbp(struct built *f) { f->b[f->tun] |= 0x80; put16(f->b + f->tun + 2, 42); }
static void t_reserved(struct built *f)
{
	f->b[f->tun] |= 0xf7;
	f->b[f->tun + 1] |= 0xdf;
	f->b[f->tun + 7] = 0xff;
}
static void t_no_p(struct built *f) { f->b[f->tun] &= ~4; }
static void t_gpe_version(struct built *f) { f->b[f->tun] |= 0x10; }
static void t_gpe_oam(struct built *f) { f->b[f->tun] |= 1; }
static void t_gpe_nsh(struct built *f) { f->b[f->tun + 3] = 4; }
static void t_gen_version(struct built *f) { f->b[f->tun] |= 0x40; }
static void t_gen_control(struct built *f) { f->b[f->tun + 1] |= 0x80; }
static void t_gen_critical(struct built *f) { f->b[f->tun + 1] |= 0x40; f->b[f->tun + 10] |= 0x80; }
static void t_gen_opts(struct built *f) { f->b[f->tun] |= 0x3f; }
static void t_gen_proto(struct built *f) { put16(f->b + f->tun + 2, 0x8847); }
/* edits inside */
static void i_type_0(struct built *f) { put16(f->b + f->iip - 2, 0); }
static void i_payload(struct built *f) { f->b[f->iend - 1] ^= 0x10; }
static void i_check(struct built *f) { f->b[f->il4 + (f->spec.l4 == 17 ? 6 : 16)] ^= 1; }
static void i_addr(struct built *f) { f->b[f->iip + (f->spec.iv6 ? 39 : 19)] ^= 4; }
static void i_more_frags(struct built *f) { f->b[f->iip + 6] |= 0x20; }
static void i_frag_off(struct built *f) { put16(f->b + f->iip + 6, 0x1fff); }
static void i_frag6(struct built *f) { f->b[f->iip + 6] = 44; }
static void i_version(struct built *f) { f->b[f->iip] ^= 0x20; }
static void i_ihl_4(struct built *f) { f->b[f->iip] = 0x44; }
static void i_ihl_15(struct built *f) { f->b[f->iip] = 0x4f; }
static void i_len_long(struct built *f)
{
	uint8_t *p = f->b + f->iip + (f->spec.iv6 ? 4 : 2);

	put16(p, get16(p) + 1);
}
static void i_len_zero(struct built *f) { put16(f->b + f->iip + (f->spec.iv6 ? 4 : 2), 0); }
static void i_doff_4(struct built *f) { f->b[f->il4 + 12] = 0x40; sum_inner(f); }
static void i_doff_15(struct built *f) { f->b[f->il4 + 12] = 0xf0; sum_inner(f); }
static void i_udp_short(struct built *f) { put16(f->b + f->il4 + 4, 8); sum_inner(f); }
static void i_udp_long(struct built *f) { put16(f->b + f->il4 + 4, 9 + f->spec.payload); sum_inner(f); }
static void i_header_sum(struct built *f) { f->b[f->iip + 10] ^= 0xff; }
static void i_addr_carry(struct built *f)
{
	memset(f->b + f->iip + (f->spec.iv6 ? 8 : 12), 0xfe, f->spec.iv6 ? 32 : 8);
	sum_inner(f);
}
static void i_sum_field_zero(struct built *f)
{
	/* a TCP checksum that happens to be 0x0000: its ones' complement twin */
	put16(f->b + f->il4 + 18, 0);
	sum_inner(f);
	put16(f->b + f->il4 + 18, get16(f->b + f->il4 + 16));
	put16(f->b + f->il4 + 16, 0);
}
static void i_udp_ffff(struct built *f)
{
	/* payload such that the checksum is sent as 0xffff, not as 0 */
	put16(f->b + f->il4 + 8, 0);
	sum_inner(f);
	put16(f->b + f->il4 + 8, get16(f->b + f->il4 + 6));
	put16(f->b + f->il4 + 6, 0xffff);
}
static void i_half_eth(struct built *f) { outer_len(f, f->in + 13); }
static void i_half_ip(struct built *f) { outer_len(f, f->iip + 19); }

#define VX		ZCG_TUNNEL_VXLAN
#define GPE		ZCG_TUNNEL_VXLAN_GPE
#define GEN		ZCG_TUNNEL_GENEVE
#define P		.payload = 40

static const struct row rows[] = {
	/* Row 1 */
	{ "row 1: outer IPv4, inner IPv4 TCP", ZCG_VERIFIED, { P } },
	{ "row 1: outer IPv6, inner IPv4 TCP", ZCG_VERIFIED, { .ov6 = 1, P } },
	{ "row 1: outer IPv4 with options", ZCG_VERIFIED, { .oopts = 12, P } },
	{ "row 1: outer IPv4 with the reserved bit", ZCG_VERIFIED, { P }, o_reserved_bit },
	{ "row 1: one outer VLAN tag", ZCG_VERIFIED, { .otag = { 0x8100 }, P } },
	{ "row 1: two outer VLAN tags", ZCG_VERIFIED, { .otag = { 0x88a8, 0x8100 }, P } },
	{ "row 1: Ethernet padding behind the outer packet", ZCG_VERIFIED, { .opad = 7, P } },
	{ "row 1: VXLAN-GPE, Ethernet", ZCG_VERIFIED, { .tunnel = GPE, P } },
	{ "row 1: VXLAN-GPE, IPv4", ZCG_VERIFIED, { .tunnel = GPE, .bare = 1, P } },
	{ "row 1: VXLAN-GPE, IPv6", ZCG_VERIFIED, { .tunnel = GPE, .bare = 1, .iv6 = 1, P } },
	{ "row 1: Geneve, Ethernet", ZCG_VERIFIED, { .tunnel = GEN, P } },
	{ "row 1: Geneve, IPv4", ZCG_VERIFIED, { .tunnel = GEN, .bare = 1, P } },
	{ "row 1: Geneve, IPv6", ZCG_VERIFIED, { .tunnel = GEN, .bare = 1, .iv6 = 1, P } },
	{ "row 1: Geneve with all 252 bytes of options", ZCG_VERIFIED, { .tunnel = GEN, .gopts = 252, P } },
	{ "row 1: Geneve with a critical option", ZCG_VERIFIED, { .tunnel = GEN, .gopts = 8, P }, t_gen_critical },
	{ "row 1: VXLAN with group policy", ZCG_VERIFIED, { P }, t_gbp },
	{ "row 1: VXLAN with all reserved bits", ZCG_VERIFIED, { P }, t_reserved },
	{ "row 1: one inner VLAN tag", ZCG_VERIFIED, { .itag = { 0x8100 }, P } },
	{ "row 1: two inner VLAN tags", ZCG_VERIFIED, { .itag = { 0x88a8, 0x8100 }, P } },
	{ "row 1: inner IPv4 with options", ZCG_VERIFIED, { .iopts = 40, P } },
	{ "row 1: inner IPv6 TCP", ZCG_VERIFIED, { .iv6 = 1, P } },
	{ "row 1: inner IPv6 UDP", ZCG_VERIFIED, { .iv6 = 1, .l4 = 17, P } },
	{ "row 1: inner IPv4 UDP", ZCG_VERIFIED, { .l4 = 17, P } },
	{ "row 1: inner UDP checksum 0 over IPv4", ZCG_VERIFIED, { .l4 = 17, .zero = 1, P } },
	{ "row 1: inner UDP checksum sent as 0xffff", ZCG_VERIFIED, { .l4 = 17, P }, i_udp_ffff },
	{ "row 1: inner TCP checksum that is 0", ZCG_VERIFIED, { P }, i_sum_field_zero },
	{ "row 1: inner TCP without payload", ZCG_VERIFIED, { .payload = 0 } },
	{ "row 1: inner UDP without payload", ZCG_VERIFIED, { .l4 = 17 } },
	{ "row 1: inner IPv4 addresses whose sum carries", ZCG_VERIFIED, { P }, i_addr_carry },
	{ "row 1: inner IPv6 addresses whose sum carries", ZCG_VERIFIED, { .iv6 = 1, P }, i_addr_carry },
	{ "row 1: inner payload of odd length", ZCG_VERIFIED, { .payload = 41 } },
	{ "row 1: inner TCP with options", ZCG_VERIFIED, { .topts = 40, P } },
	{ "row 1: padding behind the inner packet", ZCG_VERIFIED, { .ipad = 18 } },
	{ "row 1: inner IPv4 header checksum is left to the stack", ZCG_VERIFIED, { P }, i_header_sum },
	/* Row 2 */
	{ "row 2: inner ICMP", ZCG_OUTER_PROTO, { .l4 = 1, P } },
	{ "row 2: inner ICMPv6", ZCG_OUTER_PROTO, { .iv6 = 1, .l4 = 58, P } },
	{ "row 2: inner SCTP", ZCG_OUTER_PROTO, { .l4 = 132, P } },
	{ "row 2: inner GRE", ZCG_OUTER_PROTO, { .l4 = 47, P } },
	{ "row 2: inner ARP", ZCG_OUTER_PROTO, { .itype = 0x0806, P } },
	{ "row 2: inner 802.3 length instead of a type", ZCG_OUTER_PROTO, { .itype = 60, P } },
	{ "row 2: inner type 0", ZCG_OUTER_PROTO, { P }, i_type_0 },
	{ "row 2: three inner VLAN tags", ZCG_OUTER_PROTO, { .itag = { 0x88a8, 0x8100, 0x8100 }, P } },
	{ "row 2: inner IPv4 with more fragments", ZCG_OUTER_FRAG, { P }, i_more_frags },
	{ "row 2: inner IPv4 with a fragment offset", ZCG_OUTER_FRAG, { P }, i_frag_off },
	{ "row 2: inner IPv6 fragment header", ZCG_OUTER_FRAG, { .iv6 = 1, P }, i_frag6 },
	{ "row 2: inner IPv6 hop-by-hop options", ZCG_OUTER_PROTO, { .iv6 = 1, .l4 = 256, P } },
	{ "row 2: inner IPv6 destination options", ZCG_OUTER_PROTO, { .iv6 = 1, .l4 = 60, P } },
	{ "row 2: remote checksum offload", ZCG_OUTER_RCO, { P }, t_rco },
	{ "row 2: remote checksum offload, GRO off", ZCG_OUTER_RCO, { P }, t_rco, ZCG_F_GRO },
	{ "row 2: inner UDP checksum 0 over IPv6", ZCG_OUTER_PROTO, { .iv6 = 1, .l4 = 17, .zero = 1, P } },
	{ "row 2: IPv4 by type, another version in the header", ZCG_OUTER_PROTO, { P }, i_version },
	{ "row 2: IPv6 by type, another version in the header", ZCG_OUTER_PROTO, { .iv6 = 1, P }, i_version },
	{ "row 2: VXLAN-GPE OAM", ZCG_OUTER_PROTO, { .tunnel = GPE, P }, t_gpe_oam },
	{ "row 2: VXLAN-GPE with NSH", ZCG_OUTER_PROTO, { .tunnel = GPE, P }, t_gpe_nsh },
	{ "row 2: Geneve control packet", ZCG_OUTER_PROTO, { .tunnel = GEN, P }, t_gen_control },
	{ "row 2: Geneve with MPLS", ZCG_OUTER_PROTO, { .tunnel = GEN, P }, t_gen_proto },
	{ "row 2: GRO off on the device", ZCG_OUTER_GRO_OFF, { P }, NULL, ZCG_F_GRO },
	{ "row 2: GRO off, inner checksum wrong and unseen", ZCG_OUTER_GRO_OFF, { P }, i_payload, ZCG_F_GRO },
	{ "row 2: GRO off, Geneve", ZCG_OUTER_GRO_OFF, { .tunnel = GEN, P }, NULL, ZCG_F_GRO },
	/* Row 3 */
	{ "row 3: inner TCP payload wrong", ZCG_INNER_BAD, { P }, i_payload },
	{ "row 3: inner TCP checksum wrong", ZCG_INNER_BAD, { P }, i_check },
	{ "row 3: inner TCP address wrong", ZCG_INNER_BAD, { P }, i_addr },
	{ "row 3: inner IPv6 TCP payload wrong", ZCG_INNER_BAD, { .iv6 = 1, P }, i_payload },
	{ "row 3: inner IPv6 address wrong", ZCG_INNER_BAD, { .iv6 = 1, P }, i_addr },
	{ "row 3: inner UDP payload wrong", ZCG_INNER_BAD, { .l4 = 17, P }, i_payload },
	{ "row 3: inner UDP checksum wrong", ZCG_INNER_BAD, { .l4 = 17, P }, i_check },
	{ "row 3: Geneve, odd last byte wrong", ZCG_INNER_BAD, { .tunnel = GEN, .payload = 41 }, i_payload },
	/* Row 4 */
	{ "row 4: UDP checksum not 0", ZCG_NOT_OURS, { P }, o_udp_sum },
	{ "row 4: UDP checksum not 0 over IPv6", ZCG_NOT_OURS, { .ov6 = 1, P }, o_udp_sum },
	{ "row 4: port unknown", ZCG_UNKNOWN_PORT, { .port = PORT_OTHER, P } },
	{ "row 4: port unknown, outer IPv6", ZCG_UNKNOWN_PORT, { .ov6 = 1, .port = PORT_OTHER, P } },
	{ "row 4: port unknown, truncated", ZCG_UNKNOWN_PORT, { .port = PORT_OTHER, P }, o_cut },
	{ "row 4: port unknown, checksum not 0", ZCG_NOT_OURS, { .port = PORT_OTHER, P }, o_udp_sum },
	{ "row 4: source port known only", ZCG_UNKNOWN_PORT, { .port = 0xc123, P } },
	{ "row 4: fragment, more to come", ZCG_NOT_OURS, { P }, o_more_frags },
	{ "row 4: fragment, with an offset", ZCG_NOT_OURS, { P }, o_frag_off },
	{ "row 4: IPv6 fragment header", ZCG_NOT_OURS, { .ov6 = 1, P }, o_frag6 },
	{ "row 4: IPv6 destination options", ZCG_NOT_OURS, { .ov6 = 1, P }, o_dstopt },
	{ "row 4: TCP", ZCG_NOT_OURS, { P }, o_tcp },
	{ "row 4: TCP over IPv6", ZCG_NOT_OURS, { .ov6 = 1, P }, o_tcp },
	{ "row 4: ARP", ZCG_NOT_OURS, { P }, o_arp },
	{ "row 4: three outer VLAN tags", ZCG_NOT_OURS, { .otag = { 0x8100, 0x8100, 0x8100 }, P } },
	{ "row 4: outer IPv4 header length below 20", ZCG_NOT_OURS, { P }, o_ihl_4 },
	{ "row 4: outer IPv4 of another version", ZCG_NOT_OURS, { P }, o_version_5 },
	{ "row 4: outer IPv6 of another version", ZCG_NOT_OURS, { .ov6 = 1, P }, o_version_5 },
	{ "row 4: outer IP packet ends in the UDP header", ZCG_NOT_OURS, { P }, o_no_udp },
	{ "row 4: truncated in the UDP header", ZCG_NOT_OURS, { P }, o_cut_in_udp },
	{ "row 4: truncated, last byte missing", ZCG_MALFORMED, { P }, o_cut },
	{ "row 4: truncated, outer IPv6", ZCG_MALFORMED, { .ov6 = 1, P }, o_cut },
	{ "row 4: outer IP longer than the frame", ZCG_MALFORMED, { P }, o_ip_long },
	{ "row 4: outer UDP shorter than the IP payload (padded wrongly)", ZCG_MALFORMED, { P }, o_udp_short },
	{ "row 4: outer UDP longer than the IP payload", ZCG_MALFORMED, { P }, o_udp_long },
	{ "row 4: outer UDP length 0", ZCG_MALFORMED, { .ov6 = 1, P }, o_udp_zero_len },
	{ "row 4: no tunnel header", ZCG_MALFORMED, { P }, o_only_udp },
	{ "row 4: tunnel header cut", ZCG_MALFORMED, { P }, o_half_tunnel },
	{ "row 4: VXLAN without the I flag", ZCG_MALFORMED, { P }, t_no_i },
	{ "row 4: VXLAN without the I flag, GRO off", ZCG_MALFORMED, { P }, t_no_i, ZCG_F_GRO },
	{ "row 4: VXLAN-GPE without the I flag", ZCG_MALFORMED, { .tunnel = GPE, P }, t_no_i },
	{ "row 4: VXLAN-GPE without the P flag", ZCG_MALFORMED, { .tunnel = GPE, P }, t_no_p },
	{ "row 4: VXLAN-GPE of another version", ZCG_MALFORMED, { .tunnel = GPE, P }, t_gpe_version },
	{ "row 4: Geneve of another version", ZCG_MALFORMED, { .tunnel = GEN, P }, t_gen_version },
	{ "row 4: Geneve options behind the packet's end", ZCG_MALFORMED, { .tunnel = GEN, P }, t_gen_opts },
	{ "row 4: nothing in the tunnel", ZCG_MALFORMED, { P }, o_empty_tunnel },
	{ "row 4: inner Ethernet header cut", ZCG_MALFORMED, { P }, i_half_eth },
	{ "row 4: inner IPv4 header cut", ZCG_MALFORMED, { P }, i_half_ip },
	{ "row 4: inner IPv4 header length below 20", ZCG_MALFORMED, { P }, i_ihl_4 },
	{ "row 4: inner IPv4 header longer than the packet", ZCG_MALFORMED, { .l4 = 17 }, i_ihl_15 },
	{ "row 4: inner IPv4 longer than the tunnel", ZCG_MALFORMED, { P }, i_len_long },
	{ "row 4: inner IPv4 total length 0", ZCG_MALFORMED, { P }, i_len_zero },
	{ "row 4: inner IPv4 header and nothing behind", ZCG_MALFORMED, { .l4 = 1 } },
	{ "row 4: inner IPv6 header and nothing behind", ZCG_MALFORMED, { .iv6 = 1, .l4 = 58 } },
	{ "row 4: inner IPv6 longer than the tunnel", ZCG_MALFORMED, { .iv6 = 1, P }, i_len_long },
	{ "row 4: inner IPv6 jumbogram", ZCG_MALFORMED, { .iv6 = 1, P }, i_len_zero },
	{ "row 4: inner TCP data offset below 20", ZCG_MALFORMED, { P }, i_doff_4 },
	{ "row 4: inner TCP data offset behind the segment", ZCG_MALFORMED, { .payload = 39 }, i_doff_15 },
	{ "row 4: inner UDP shorter than the IP payload", ZCG_MALFORMED, { .l4 = 17, P }, i_udp_short },
	{ "row 4: inner UDP longer than the IP payload", ZCG_MALFORMED, { .l4 = 17, P }, i_udp_long },
	{ "row 4: inner UDP checksum 0 and a wrong length", ZCG_MALFORMED, { .l4 = 17, .zero = 1, P }, i_udp_long },
	{ "deferred: TCP", ZCG_DEFERRED, { P }, NULL, ZCG_F_DEFER },
	{ "deferred: UDP, outer IPv6, Geneve", ZCG_DEFERRED, { .ov6 = 1, .tunnel = GEN, .l4 = 17, P }, NULL, ZCG_F_DEFER },
	{ "deferred: inner checksum wrong and unseen", ZCG_DEFERRED, { P }, i_payload, ZCG_F_DEFER },
	{ "deferred: inner ICMP", ZCG_DEFERRED, { .l4 = 1, P }, NULL, ZCG_F_DEFER },
	{ "deferred: inner lengths contradict each other, unseen", ZCG_DEFERRED, { P }, i_len_long, ZCG_F_DEFER },
	{ "deferred: nothing in the tunnel", ZCG_DEFERRED, { P }, o_empty_tunnel, ZCG_F_DEFER },
	{ "deferred: remote checksum offload", ZCG_DEFERRED, { P }, t_rco, ZCG_F_DEFER },
	{ "deferred: VXLAN-GPE OAM", ZCG_DEFERRED, { .tunnel = GPE, P }, t_gpe_oam, ZCG_F_DEFER },
	{ "deferred: Geneve with MPLS", ZCG_DEFERRED, { .tunnel = GEN, P }, t_gen_proto, ZCG_F_DEFER },
	{ "deferred: GRO off on the device", ZCG_DEFERRED, { P }, NULL, ZCG_F_DEFER | ZCG_F_GRO },
	{ "not deferred: truncated", ZCG_MALFORMED, { P }, o_cut, ZCG_F_DEFER },
	{ "not deferred: VXLAN without the I flag", ZCG_MALFORMED, { P }, t_no_i, ZCG_F_DEFER },
	{ "not deferred: port unknown", ZCG_UNKNOWN_PORT, { .port = PORT_OTHER, P }, NULL, ZCG_F_DEFER },
	{ "not deferred: UDP checksum not 0", ZCG_NOT_OURS, { P }, o_udp_sum, ZCG_F_DEFER },
	{ "not deferred: fragment", ZCG_NOT_OURS, { P }, o_more_frags, ZCG_F_DEFER },
	{ "not deferred: TCP outside", ZCG_NOT_OURS, { P }, o_tcp, ZCG_F_DEFER },
};

static int level_of(enum zcg_reason r)
{
	if (r == ZCG_VERIFIED)
		return 1;
	return r == ZCG_NOT_OURS || r == ZCG_MALFORMED || r == ZCG_UNKNOWN_PORT ? -1 : 0;
}

static void check_row(void **state)
{
	const struct row *row = *state;
	uint32_t flags = ZCG_F_GRO ^ row->flags, head;
	struct verdict_log log;
	struct spec spec = row->spec;
	enum zcg_reason got;
	struct built f;

	if (spec.l4 == 256) {	/* protocol 0, which spec takes for "default" */
		spec.l4 = 255;
		build(&f, &spec);
		f.b[f.iip + 6] = 0;
	} else {
		build(&f, &spec);
	}
	if (row->edit)
		row->edit(&f);

	assert_verdict(oracle(f.b, f.len, flags), row->want, f.b, f.len, "by the oracle");
	got = verdict(f.b, f.len, f.len, flags, FETCH_COPY, &log);
	assert_verdict(got, row->want, f.b, f.len, "all linear");
	assert_int_equal(log.fetches, 0);
	assert_int_equal(zcg_claim_level(got), level_of(row->want));

	/* The same whatever part of it lies in fragments. */
	for (head = 0; head <= f.len; head++) {
		got = verdict(f.b, f.len, head, flags, FETCH_COPY, NULL);
		assert_verdict(got, row->want, f.b, f.len, "%u bytes linear", head);
		got = verdict(f.b, f.len, head, flags, FETCH_IN_PLACE, NULL);
		assert_verdict(got, row->want, f.b, f.len, "%u bytes linear, rest in place", head);
	}
}

/* The driver counts per verdict; no claim may come from one it does not know. */
static void claim_levels(void **state)
{
	int r;

	(void)state;
	assert_int_equal(ZCG_NOT_OURS, 0);
	for (r = 0; r < ZCG_REASONS; r++)
		assert_int_equal(zcg_claim_level((enum zcg_reason)r), level_of((enum zcg_reason)r));
	assert_int_equal(zcg_claim_level(ZCG_REASONS), -1);
	assert_int_equal(zcg_claim_level((enum zcg_reason)1000), -1);
}

/* That the two ways agree is asserted in verdict(); here, when the short one is
 * taken at all: the usual shape, with its headers linear, and GRO on.
 */
static void plain_shape(void **state)
{
	struct spec spec = { .payload = 700, .topts = 12 };
	struct verdict_log log;
	struct built f;

	(void)state;
	build(&f, &spec);
	verdict(f.b, f.len, f.len, ZCG_F_GRO, FETCH_COPY, &log);
	assert_true(log.plain);
	verdict(f.b, f.len, f.il4 + ZCG_TCP_MIN, ZCG_F_GRO, FETCH_COPY, &log);
	assert_true(log.plain);
	i_payload(&f);
	verdict(f.b, f.len, f.len, ZCG_F_GRO, FETCH_COPY, &log);
	assert_true(log.plain);
	verdict(f.b, f.len, f.il4 + ZCG_TCP_MIN - 1, ZCG_F_GRO, FETCH_COPY, &log);
	assert_false(log.plain);
	verdict(f.b, f.len, f.len, 0, FETCH_COPY, &log);
	assert_false(log.plain);
	verdict(f.b, f.len, f.len, ZCG_F_GRO | ZCG_F_DEFER, FETCH_COPY, &log);
	assert_false(log.plain);

	spec.otag[0] = 0x8100;
	build(&f, &spec);
	verdict(f.b, f.len, f.len, ZCG_F_GRO, FETCH_COPY, &log);
	assert_false(log.plain);
}

size_t table_tests(struct CMUnitTest *list)
{
	size_t n = sizeof(rows) / sizeof(rows[0]), i;

	for (i = 0; i < n; i++) {
		list[i] = (struct CMUnitTest){
			rows[i].name, check_row, NULL, NULL, (void *)(uintptr_t)&rows[i],
		};
	}
	list[n] = (struct CMUnitTest){
		"claim: 1 for verified, 0 for good outsides, none for the rest",
		claim_levels, NULL, NULL, NULL,
	};
	list[n + 1] = (struct CMUnitTest){
		"the usual shape is judged the short way", plain_shape, NULL, NULL, NULL,
	};
	return n + 2;
}
