// SPDX-License-Identifier: GPL-2.0
/*
 * The parser for CBMC, which follows all ways through it at once: any bytes, any
 * length up to LEN, any linear part, any port table, any flags. To be proven: no
 * byte outside the linear part is read in place, nothing outside the frame is
 * asked for, and level 1 is only claimed for a frame whose inner checksum was
 * computed and holds, or is the zero of UDP over IPv4. See run.
 */
#include <stdlib.h>
#include <string.h>

/* That one CBMC knows, and checks what it is called with. */
#define __builtin_memcpy	memcpy
#include "zcg_policy.h"

#define LEN	128

u8 nondet_u8(void);
u16 nondet_u16(void);
u32 nondet_u32(void);

static unsigned int sums;
static u16 sum;

static const void *any_fetch(const struct zcg_frame *f, u32 off, u32 n, void *buf)
{
	u8 *to = buf;
	u32 i;

	__CPROVER_assert(n > 0 && n <= ZCG_FETCH_MAX, "fetch: size");
	__CPROVER_assert(off <= f->len && n <= f->len - off, "fetch: within the frame");
	if (nondet_u8())
		return NULL;
	for (i = 0; i < ZCG_FETCH_MAX; i++) {
		if (i < n)
			to[i] = nondet_u8();
	}
	return buf;
}

static u16 any_csum(const struct zcg_frame *f, u32 off, u32 len, u32 seed)
{
	(void)seed;
	__CPROVER_assert(len > 0, "csum: something to sum");
	__CPROVER_assert(off <= f->len && len <= f->len - off, "csum: within the frame");
	__CPROVER_assert(!sums, "csum: only once");
	sums++;
	return sum;
}

static const struct zcg_ops any_ops = {
	.fetch = any_fetch,
	.csum = any_csum,
};

int main(void)
{
	struct zcg_ports ports;
	struct zcg_frame f = { .len = nondet_u32(), .headlen = nondet_u32() };
	u32 flags = nondet_u32();
	enum zcg_reason r;
	unsigned int i;

	__CPROVER_assume(f.len <= LEN && f.headlen <= f.len);
	f.head = malloc(f.headlen);
	__CPROVER_assume(f.head);
	for (i = 0; i < ZCG_MAX_PORTS; i++)
		ports.slot[i] = nondet_u32();
	ports.filter = (unsigned long)nondet_u32() << 32 | nondet_u32();
	sum = nondet_u16();

	/* As the driver asks: by the linear part behind the Ethernet header first. */
	r = ZCG_GO_ON;
	if (!(flags & ZCG_F_DEFER) && f.headlen >= ETH_HLEN) {
		r = zcg_plain_port(f.head + ETH_HLEN, f.headlen - ETH_HLEN, &ports);
		r = zcg_decide_plain(&any_ops, &f, &ports, flags, r);
	}
	__CPROVER_assert(r == ZCG_GO_ON || r == ZCG_NOT_OURS || r == ZCG_UNKNOWN_PORT || sums == 1,
			 "short way: no verdict on the inside without the sum");
	__CPROVER_assert(!sums || r == (sum == 0xffff ? ZCG_VERIFIED : ZCG_INNER_BAD),
			 "short way: a verdict is the sum's");
	sums = 0;
	r = zcg_decide_any(&any_ops, &f, &ports, flags);
	__CPROVER_assert(r >= 0 && r < ZCG_REASONS, "a verdict");
	__CPROVER_assert(zcg_claim_level(r) != 1 || !sums || sum == 0xffff, "level 1: the sum holds");
	__CPROVER_assert(zcg_claim_level(r) < 1 || r == ZCG_VERIFIED, "level 1: verified");
	return 0;
}
