// SPDX-License-Identifier: GPL-2.0
/*
 * The parser under test with operations that check what it asks of them.
 * The linear part is a heap block of exactly its length at an odd address, so
 * that the sanitizers see every byte read too far and every aligned access.
 */
#include "frames.h"

#define MUST(cond) do {							\
	if (!(cond))							\
		promise_broken(#cond);					\
} while (0)

struct source {
	const uint8_t *bytes;	/* the whole frame, at an odd address */
	enum fetch_mode mode;
	struct verdict_log log;
};

static const void *test_fetch(const struct zcg_frame *f, u32 off, u32 n, void *buf)
{
	struct source *src = (struct source *)(uintptr_t)f->ctx;

	MUST(n > 0 && n <= ZCG_FETCH_MAX);
	MUST(off <= f->len && n <= f->len - off);
	MUST(off + n > f->headlen);
	src->log.fetches++;
	if (src->mode == FETCH_FAILS)
		return NULL;
	if (src->mode == FETCH_IN_PLACE)
		return src->bytes + off;
	return memcpy(buf, src->bytes + off, n);
}

static u16 test_csum(const struct zcg_frame *f, u32 off, u32 len, u32 seed)
{
	struct source *src = (struct source *)(uintptr_t)f->ctx;
	uint64_t sum = seed;
	uint32_t i;

	MUST(len > 0);
	MUST(off <= f->len && len <= f->len - off);
	src->log.csums++;
	MUST(src->log.csums == 1);
	for (i = 0; i < len; i += 2) {
		uint8_t pair[2] = { src->bytes[off + i],
				    i + 1 < len ? src->bytes[off + i + 1] : 0 };
		uint16_t word;

		memcpy(&word, pair, 2);
		sum += word;
	}
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static const struct zcg_ops test_ops = {
	.fetch = test_fetch,
	.csum = test_csum,
};

static uint8_t *odd_copy(const uint8_t *b, uint32_t n)
{
	uint8_t *p = malloc(n + 1);

	if (!p)
		abort();
	if (n)
		memcpy(p + 1, b, n);
	return p;
}

enum zcg_reason verdict(const uint8_t *b, uint32_t len, uint32_t headlen,
			uint32_t flags, enum fetch_mode mode,
			struct verdict_log *log)
{
	uint8_t *head = odd_copy(b, headlen);
	uint8_t *whole = odd_copy(b, len);
	struct source src = { .bytes = whole + 1, .mode = mode };
	struct zcg_frame f = {
		.head = head + 1, .headlen = headlen, .len = len, .ctx = &src,
	};
	enum zcg_reason plain = ZCG_GO_ON, r;

	/* The driver's three steps. It defers by the last alone, and the Ethernet
	 * header is always linear there. None says anything else than the last.
	 */
	if (!(flags & ZCG_F_DEFER) && headlen >= ETH_HLEN) {
		plain = zcg_plain_port(f.head + ETH_HLEN, headlen - ETH_HLEN,
				       &ports);
		plain = zcg_decide_plain(&test_ops, &f, &ports, flags, plain);
	}
	MUST(!src.log.fetches);
	MUST(!src.log.csums == (plain != ZCG_VERIFIED && plain != ZCG_INNER_BAD));
	memset(&src.log, 0, sizeof(src.log));
	r = zcg_decide_any(&test_ops, &f, &ports, flags);
	MUST(plain == r || plain == ZCG_GO_ON);
	src.log.plain = plain != ZCG_GO_ON;

	MUST((unsigned int)r < ZCG_REASONS);
	/* No sum without need: not for a frame that gets no verdict from it. */
	MUST(!src.log.csums || r == ZCG_VERIFIED || r == ZCG_INNER_BAD);
	MUST(r != ZCG_INNER_BAD || src.log.csums);
	if (log)
		*log = src.log;
	free(head);
	free(whole);
	return r;
}
