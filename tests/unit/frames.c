// SPDX-License-Identifier: GPL-2.0
/*
 * Builds frames from descriptions. Fields are written one by one, without the
 * header structs or the constants that the parser uses.
 */
#include <time.h>

#include "frames.h"

/* written out, so that the policy tests do not hang on zcg_ports_set() */
const struct zcg_ports ports = { .slot = {
	[0] = ZCG_TUNNEL_VXLAN << 16 | (uint16_t)((PORT_VXLAN & 0xff) << 8 | PORT_VXLAN >> 8),
	[3] = ZCG_TUNNEL_VXLAN_GPE << 16 | (uint16_t)((PORT_GPE & 0xff) << 8 | PORT_GPE >> 8),
	[15] = ZCG_TUNNEL_GENEVE << 16 | (uint16_t)((PORT_GENEVE & 0xff) << 8 | PORT_GENEVE >> 8),
}, .filter = 1ul << PORT_VXLAN % 64 | 1ul << PORT_GPE % 64 | 1ul << PORT_GENEVE % 64 };

const struct spec bases[] = {
	{ .payload = 60 },
	{ .payload = 33, .topts = 12 },
	{ .l4 = 17, .payload = 41 },
	{ .l4 = 17, .payload = 20, .zero = 1 },
	{ .iv6 = 1, .payload = 31 },
	{ .iv6 = 1, .l4 = 17, .payload = 24 },
	{ .ov6 = 1, .payload = 27 },
	{ .ov6 = 1, .iv6 = 1, .l4 = 17, .payload = 5 },
	{ .otag = { 0x8100 }, .payload = 22 },
	{ .otag = { 0x88a8, 0x8100 }, .itag = { 0x8100 }, .payload = 22 },
	{ .itag = { 0x88a8, 0x8100 }, .iv6 = 1, .payload = 13 },
	{ .oopts = 8, .iopts = 40, .payload = 19 },
	{ .tunnel = ZCG_TUNNEL_VXLAN_GPE, .payload = 17 },
	{ .tunnel = ZCG_TUNNEL_VXLAN_GPE, .bare = 1, .payload = 17 },
	{ .tunnel = ZCG_TUNNEL_VXLAN_GPE, .bare = 1, .iv6 = 1, .l4 = 17, .payload = 9 },
	{ .tunnel = ZCG_TUNNEL_GENEVE, .payload = 21 },
	{ .tunnel = ZCG_TUNNEL_GENEVE, .gopts = 16, .iv6 = 1, .payload = 8 },
	{ .tunnel = ZCG_TUNNEL_GENEVE, .gopts = 4, .bare = 1, .payload = 8 },
	{ .ipad = 6, .payload = 0 },
	{ .ipad = 18, .opad = 5, .l4 = 17, .payload = 0 },
	{ .opad = 9, .payload = 1 },
};

const unsigned int nbases = sizeof(bases) / sizeof(bases[0]);

void put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v & 0xff;
}

uint16_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

uint32_t rnd(uint64_t *state)
{
	uint64_t x = *state ? *state : 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x >> 32;
}

uint64_t seed_from_env(void)
{
	const char *env = getenv("ZCG_SEED");
	uint64_t seed = env ? strtoull(env, NULL, 0) : (uint64_t)time(NULL);

	printf("# seed %llu (repeat with ZCG_SEED=%llu)\n",
	       (unsigned long long)seed, (unsigned long long)seed);
	fflush(stdout);
	return seed * 2654435761u + 1;
}

/* Sum of big-endian words modulo 65535, which is what ones' complement adds. */
static uint32_t words(const uint8_t *p, uint32_t n)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	return sum % 65535;
}

static uint16_t closing(uint32_t sum)
{
	uint16_t c = 65535 - sum % 65535;

	return c ? c : 0xffff;
}

static uint8_t *eth(uint8_t *p, const uint16_t *tags, uint16_t type)
{
	int i;

	memcpy(p, "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02", 12);
	p += 12;
	for (i = 0; i < 3 && tags[i]; i++) {
		put16(p, tags[i]);
		put16(p + 2, 100 + i);
		p += 4;
	}
	put16(p, type);
	return p + 2;
}

static uint8_t *ip(uint8_t *p, int v6, int opts, int proto, uint8_t net)
{
	if (v6) {
		memset(p, 0, 40);
		p[0] = 0x60;
		p[6] = proto;
		p[7] = 64;
		memcpy(p + 8, "\xfd\x00\x12\x34\x56\x78", 6);
		memcpy(p + 24, "\xfd\x00\x12\x34\x56\x78", 6);
		p[21] = p[37] = net;
		p[23] = 1;
		p[39] = 2;
		return p + 40;
	}
	memset(p, 0, 20);
	p[0] = 0x40 | (5 + opts / 4);
	put16(p + 4, 0x1234);
	put16(p + 6, 0x4000);
	p[8] = 64;
	p[9] = proto;
	memcpy(p + 12, "\xc0\xa8\x00\x01\xc0\xa8\x00\x02", 8);
	p[14] = p[18] = net;
	memset(p + 20, 1, opts);
	return p + 20 + opts;
}

static void ip_len(uint8_t *p, uint32_t end)
{
	if (p[0] >> 4 == 6) {
		put16(p + 4, end - 40);
		return;
	}
	put16(p + 2, end);
	put16(p + 10, 0);
	put16(p + 10, closing(words(p, (p[0] & 15) * 4)));
}

void outer_len(struct built *f, uint32_t end)
{
	f->end = end;
	ip_len(f->b + f->ip, end - f->ip);
	put16(f->b + f->udp + 4, end - f->udp);
}

void sum_inner(struct built *f)
{
	uint32_t len = f->iend - f->il4;
	uint8_t *l4 = f->b + f->il4;
	uint8_t *field = l4 + (f->spec.l4 == 17 ? 6 : 16);
	uint32_t sum;

	if (f->spec.l4 != 6 && f->spec.l4 != 17)
		return;
	put16(field, 0);
	if (f->spec.l4 == 17 && f->spec.zero)
		return;
	if (f->spec.iv6)
		sum = words(f->b + f->iip + 8, 32);
	else
		sum = words(f->b + f->iip + 12, 8);
	sum += len + f->spec.l4 + words(l4, len);
	put16(field, closing(sum));
}

static uint8_t *tunnel(uint8_t *p, const struct spec *s)
{
	memset(p, 0, 8);
	p[6] = 2;	/* VNI */
	switch (s->tunnel) {
	case ZCG_TUNNEL_VXLAN_GPE:
		p[0] = 0x0c;
		p[3] = !s->bare ? 3 : s->iv6 ? 2 : 1;
		return p + 8;
	case ZCG_TUNNEL_GENEVE:
		p[0] = s->gopts / 4;
		put16(p + 2, !s->bare ? 0x6558 : s->iv6 ? 0x86dd : 0x0800);
		memset(p + 8, 0, s->gopts);
		if (s->gopts)
			p[11] = s->gopts / 4 - 1;
		return p + 8 + s->gopts;
	default:
		p[0] = 0x08;
		return p + 8;
	}
}

void build(struct built *f, const struct spec *spec)
{
	struct spec *s = &f->spec;
	uint64_t state;
	uint8_t *p;
	int i;

	memset(f, 0, sizeof(*f));
	*s = *spec;
	if (!s->tunnel)
		s->tunnel = ZCG_TUNNEL_VXLAN;
	if (!s->port)
		s->port = s->tunnel == ZCG_TUNNEL_VXLAN ? PORT_VXLAN :
			  s->tunnel == ZCG_TUNNEL_GENEVE ? PORT_GENEVE : PORT_GPE;
	if (!s->itype)
		s->itype = s->iv6 ? 0x86dd : 0x0800;
	if (!s->l4)
		s->l4 = 6;
	state = s->seed + 12345;

	p = eth(f->b, s->otag, s->ov6 ? 0x86dd : 0x0800);
	f->ip = p - f->b;
	p = ip(p, s->ov6, s->oopts, 17, 1);
	f->udp = p - f->b;
	put16(p, 0xc123);
	put16(p + 2, s->port);
	f->tun = f->udp + 8;
	p = tunnel(p + 8, s);
	f->in = p - f->b;
	if (!s->bare)
		p = eth(p, s->itag, s->itype);
	f->iip = p - f->b;
	p = ip(p, s->iv6, s->iopts, s->l4, 2);
	f->il4 = p - f->b;
	if (s->l4 == 6) {
		put16(p, 5001);
		put16(p + 2, 40000);
		memcpy(p + 4, "\x12\x34\x56\x78\x9a\xbc\xde\xf1", 8);
		p[12] = (5 + s->topts / 4) << 4;
		p[13] = 0x10;
		put16(p + 14, 1024);
		memset(p + 20, 1, s->topts);
		p += 20 + s->topts;
	} else if (s->l4 == 17) {
		put16(p, 5001);
		put16(p + 2, 40000);
		put16(p + 4, 8 + s->payload);
		p += 8;
	}
	for (i = 0; i < s->payload; i++)
		*p++ = rnd(&state);
	f->iend = p - f->b;
	ip_len(f->b + f->iip, f->iend - f->iip);
	sum_inner(f);
	outer_len(f, f->iend + s->ipad);
	f->len = f->end + s->opad;
	memset(f->b + f->end, 0x5a, s->opad);
}

const char *reason_name(enum zcg_reason r)
{
	static const char *const names[] = {
		[ZCG_NOT_OURS] = "NOT_OURS",
		[ZCG_VERIFIED] = "VERIFIED",
		[ZCG_OUTER_PROTO] = "OUTER_PROTO",
		[ZCG_OUTER_FRAG] = "OUTER_FRAG",
		[ZCG_OUTER_RCO] = "OUTER_RCO",
		[ZCG_OUTER_GRO_OFF] = "OUTER_GRO_OFF",
		[ZCG_INNER_BAD] = "INNER_BAD",
		[ZCG_MALFORMED] = "MALFORMED",
		[ZCG_UNKNOWN_PORT] = "UNKNOWN_PORT",
		[ZCG_DEFERRED] = "DEFERRED",
	};

	return (unsigned int)r < ZCG_REASONS ? names[r] : "(no reason)";
}

void dump(FILE *out, const uint8_t *b, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		fprintf(out, "%s%02x", i % 32 ? "" : "\n# ", b[i]);
	fprintf(out, "\n");
}

static int one_in(uint64_t *st, uint32_t n)
{
	return rnd(st) % n == 0;
}

static uint16_t random_tag(uint64_t *st)
{
	return one_in(st, 2) ? 0x8100 : 0x88a8;
}

static void random_spec(uint64_t *st, struct spec *s)
{
	static const int protos[] = { 6, 6, 6, 17, 17, 1, 58, 44, 0, 47, 132 };
	uint32_t i;

	*s = bases[rnd(st) % nbases];
	s->seed = rnd(st);
	for (i = 0; i < 3 && one_in(st, 6); i++)
		s->otag[i] = random_tag(st);
	for (i = 0; i < 3 && one_in(st, 6); i++)
		s->itag[i] = random_tag(st);
	if (one_in(st, 4))
		s->l4 = protos[rnd(st) % (sizeof(protos) / sizeof(protos[0]))];
	if (one_in(st, 8))
		s->iopts = rnd(st) % 11 * 4;
	if (one_in(st, 8))
		s->oopts = rnd(st) % 11 * 4;
	if (one_in(st, 8))
		s->topts = rnd(st) % 11 * 4;
	if (one_in(st, 8))
		s->zero = 1;
	if (one_in(st, 4))
		s->gopts = rnd(st) % 64 * 4;
	if (one_in(st, 20))
		s->port = PORT_OTHER;
	s->payload = rnd(st) % (one_in(st, 10) ? 1400 : 80);
}

uint32_t random_frame(uint64_t *st, uint8_t *b)
{
	struct built f;
	struct spec s;
	uint32_t n;

	random_spec(st, &s);
	build(&f, &s);

	/* Two bytes somewhere in the headers become a number near the right one. */
	if (one_in(st, 3)) {
		uint32_t at = f.ip + rnd(st) % (f.il4 + 20 - f.ip);

		put16(f.b + at, get16(f.b + at) + (int)(rnd(st) % 17) - 8);
		if (one_in(st, 2))
			sum_inner(&f);
	}
	/* The outer packet ends elsewhere, consistently. */
	if (one_in(st, 6))
		outer_len(&f, f.tun + rnd(st) % (f.end - f.tun + 40));
	/* Flags of the tunnel, type bytes. */
	if (one_in(st, 6))
		f.b[f.tun + rnd(st) % 4] ^= 1 << rnd(st) % 8;
	/* A UDP length that differs from the IP payload's. */
	if (one_in(st, 12))
		put16(f.b + f.udp + 4, f.end - f.udp + (int)(rnd(st) % 9) - 4);
	/* Single bits anywhere. */
	if (one_in(st, 3)) {
		for (n = rnd(st) % 4; n; n--)
			f.b[rnd(st) % f.len] ^= 1 << rnd(st) % 8;
	}
	/* Cut. */
	if (one_in(st, 8))
		f.len = rnd(st) % (f.len + 1);
	memcpy(b, f.b, f.len);
	return f.len;
}
