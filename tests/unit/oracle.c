// SPDX-License-Identifier: GPL-2.0
/*
 * What the verdict on a frame should be, written from the table in the design
 * and from the RFCs, slowly and another way than the parser: no offsets into
 * the frame but slices of it, each layer seeing only its own bytes; facts are
 * gathered first and judged last; checksums by long division. Shares nothing
 * with the parser but the names of the verdicts.
 */
#include "frames.h"

struct slice {
	const uint8_t *p;
	long n;
};

static struct slice from(struct slice s, long at)
{
	if (at > s.n)
		at = s.n;
	return (struct slice){ s.p + at, s.n - at };
}

static struct slice upto(struct slice s, long n)
{
	return (struct slice){ s.p, n < s.n ? n : s.n };
}

/* Big-endian number of k bytes at i; -1 if the slice does not have them. */
static long num(struct slice s, long i, int k)
{
	long v = 0;

	if (i + k > s.n)
		return -1;
	while (k--)
		v = v * 256 + s.p[i++];
	return v;
}

/* One L3 packet, whatever the version. */
struct packet {
	bool header;		/* fixed header there, version and size sane */
	bool wrong_version;
	bool whole;		/* all of the length it announces is there */
	bool fragment;		/* including IPv6's fragment header */
	long proto;
	long announced;		/* bytes of payload that the header announces */
	struct slice payload;	/* those of them that are there */
	struct slice addresses;	/* of the pseudo-header, as is */
	struct slice protocol;
	unsigned long pseudo;	/* the sum of both */
};

static unsigned long add_words(struct slice s)
{
	unsigned long sum = 0;
	long i;

	for (i = 0; i < s.n; i += 2)
		sum += s.p[i] * 256ul + (i + 1 < s.n ? s.p[i + 1] : 0);
	return sum;
}

static struct packet packet_of(struct slice s, int version)
{
	struct packet k = { 0 };
	long fixed = version == 4 ? 20 : 40;
	long size;

	if (s.n < fixed)
		return k;
	if (s.p[0] / 16 != version) {
		k.wrong_version = true;
		return k;
	}
	if (version == 4) {
		size = s.p[0] % 16 * 4;
		if (size < 20)
			return k;
		k.protocol = upto(from(s, 9), 1);
		k.announced = num(s, 2, 2) - size;
		k.fragment = (s.p[6] & 0x20) || (s.p[6] & 0x1f) || s.p[7];
		k.addresses = upto(from(s, 12), 8);
	} else {
		size = 40;
		k.protocol = upto(from(s, 6), 1);
		k.announced = num(s, 4, 2);
		k.fragment = s.p[6] == 44;
		k.addresses = upto(from(s, 8), 32);
	}
	k.header = true;
	k.proto = k.protocol.p[0];
	k.pseudo = add_words(k.addresses) + k.proto;
	k.payload = from(s, size);
	k.whole = size <= s.n && k.announced <= k.payload.n;
	k.payload = upto(k.payload, k.announced > 0 ? k.announced : 0);
	return k;
}

/* Type of an Ethernet frame and what follows it; -1 if that is not all there. */
static long ether(struct slice s, struct slice *rest)
{
	long type = num(s, 12, 2);
	int tags = 0;

	s = from(s, 14);
	while (tags < 2 && (type == 0x8100 || type == 0x88a8)) {
		type = num(s, 2, 2);
		s = from(s, 4);
		tags++;
	}
	*rest = s;
	return type;
}

/* True if the ones' complement sum of all is "minus zero". */
static bool holds(unsigned long pseudo, struct slice l4)
{
	return (pseudo + l4.n + add_words(l4)) % 65535 == 0;
}

static struct range range_of(struct slice s, const uint8_t *frame)
{
	return (struct range){ s.p - frame, s.p - frame + s.n };
}

static enum zcg_reason inside(long type, struct slice s, const uint8_t *frame,
			      struct covered *c)
{
	struct packet k;
	struct slice l4;
	long hlen;

	if (type == 0x6558)
		type = ether(s, &s);
	if (type == -1)
		return ZCG_MALFORMED;
	if (type != 0x0800 && type != 0x86dd)
		return ZCG_OUTER_PROTO;
	k = packet_of(s, type == 0x0800 ? 4 : 6);
	if (k.wrong_version)
		return ZCG_OUTER_PROTO;
	if (!k.header || !k.whole || k.announced <= 0)
		return ZCG_MALFORMED;
	if (k.fragment)
		return ZCG_OUTER_FRAG;

	l4 = k.payload;
	if (k.proto == 6) {
		hlen = l4.n >= 20 ? l4.p[12] / 16 * 4 : 0;
		if (hlen < 20 || hlen > l4.n)
			return ZCG_MALFORMED;
	} else if (k.proto == 17) {
		if (l4.n < 8 || num(l4, 4, 2) != l4.n)
			return ZCG_MALFORMED;
		if (num(l4, 6, 2) == 0)
			return type == 0x0800 ? ZCG_VERIFIED : ZCG_OUTER_PROTO;
	} else {
		return ZCG_OUTER_PROTO;
	}
	c->part[0] = range_of(k.addresses, frame);
	c->part[1] = range_of(k.protocol, frame);
	c->part[2] = range_of(l4, frame);
	if (k.proto == 17 && type == 0x0800)
		c->sum = c->part[2].from + 6;
	return holds(k.pseudo, l4) ? ZCG_VERIFIED : ZCG_INNER_BAD;
}

enum zcg_reason oracle_covers(const uint8_t *b, uint32_t len, uint32_t flags,
			      struct covered *c)
{
	struct slice frame = { b, len }, s, udp, pl;
	long type = ether(frame, &s), port, next = 0, opts = 0;
	enum zcg_reason outside = ZCG_REASONS;
	bool zero, sound, oam = false, rco = false;
	struct packet k = { 0 };

	memset(c, 0, sizeof(*c));
	if (type == 0x0800)
		k = packet_of(s, 4);
	else if (type == 0x86dd)
		k = packet_of(s, 6);

	udp = k.payload;
	port = num(udp, 2, 2);
	zero = k.header && !k.fragment && k.proto == 17 && udp.n >= 8 &&
	       num(udp, 6, 2) == 0;
	if (!zero)
		return ZCG_NOT_OURS;
	if (port != PORT_VXLAN && port != PORT_GPE && port != PORT_GENEVE)
		return ZCG_UNKNOWN_PORT;

	pl = from(udp, 8);
	sound = k.whole && num(udp, 4, 2) == k.announced && pl.n >= 8;
	if (!sound)
		return ZCG_MALFORMED;

	if (port == PORT_VXLAN) {
		sound = (pl.p[0] >> 3) & 1;
		rco = (num(pl, 0, 4) >> 21) & 1;
		next = 0x6558;
	} else if (port == PORT_GPE) {
		/* R R Ver Ver I P B O */
		sound = ((pl.p[0] >> 4) & 3) == 0 && ((pl.p[0] >> 2) & 3) == 3;
		oam = pl.p[0] & 1;
		next = pl.p[3] == 1 ? 0x0800 : pl.p[3] == 2 ? 0x86dd :
		       pl.p[3] == 3 ? 0x6558 : 0;
	} else {
		opts = pl.p[0] % 64 * 4;
		sound = pl.p[0] / 64 == 0 && 8 + opts <= pl.n;
		oam = pl.p[1] / 128;
		next = num(pl, 2, 2);
		if (next != 0x0800 && next != 0x86dd && next != 0x6558)
			next = 0;
	}
	if (!sound)
		return ZCG_MALFORMED;
	if (flags & ZCG_F_DEFER)
		outside = ZCG_DEFERRED;
	else if (rco)
		outside = ZCG_OUTER_RCO;
	else if (oam || !next)
		outside = ZCG_OUTER_PROTO;
	else if (!(flags & ZCG_F_GRO))
		outside = ZCG_OUTER_GRO_OFF;
	if (outside != ZCG_REASONS)
		return outside;
	return inside(next, from(pl, 8 + opts), b, c);
}

enum zcg_reason oracle(const uint8_t *b, uint32_t len, uint32_t flags)
{
	struct covered c;

	return oracle_covers(b, len, flags, &c);
}

/*
 * A ones' complement sum sees any single flipped bit. Returns the bit, counted
 * from the frame's first, or -1 if the frame has none that may be tried: no
 * checksum is verified, or it would turn into the zero that says there is none.
 */
long flip_covered(uint8_t *b, uint32_t len, uint32_t random)
{
	uint32_t bytes = 0, at, i;
	struct covered c;

	if (oracle_covers(b, len, ZCG_F_GRO, &c) != ZCG_VERIFIED)
		return -1;
	for (i = 0; i < 3; i++)
		bytes += c.part[i].to - c.part[i].from;
	if (!bytes)
		return -1;

	at = random / 8 % bytes;
	for (i = 0; at >= c.part[i].to - c.part[i].from; i++)
		at -= c.part[i].to - c.part[i].from;
	at += c.part[i].from;
	b[at] ^= 1 << random % 8;
	if (c.sum && (at == c.sum || at == c.sum + 1) && !get16(b + c.sum)) {
		b[at] ^= 1 << random % 8;
		return -1;
	}
	return at * 8 + random % 8;
}
