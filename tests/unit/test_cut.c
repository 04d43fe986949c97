// SPDX-License-Identifier: GPL-2.0
/*
 * Every base frame, cut at every byte, with every length of its linear part.
 * What must come out follows from where the headers end, so it is written down
 * here as a rule; the oracle is asked as well.
 */
#include "unit.h"

/* Cut on the wire: the headers still announce the whole packet. */
static enum zcg_reason rule_wire(const struct built *f, uint32_t cut)
{
	if (cut < f->udp + 8)
		return ZCG_NOT_OURS;
	if (cut < f->end)
		return ZCG_MALFORMED;
	return ZCG_VERIFIED;
}

/* Cut by the sender: outer lengths say so, inner lengths do not. */
static enum zcg_reason rule_sender(const struct built *f, uint32_t cut)
{
	if (cut < f->udp + 8)
		return ZCG_NOT_OURS;
	if (cut < f->in)
		return ZCG_MALFORMED;
	if (cut < f->iend)
		return ZCG_MALFORMED;
	return ZCG_VERIFIED;
}

static void every_split(const struct built *f, uint32_t len, enum zcg_reason want)
{
	uint32_t head;

	assert_verdict(oracle(f->b, len, ZCG_F_GRO), want, f->b, len,
		       "by the oracle, length %u", len);
	for (head = 0; head <= len; head++) {
		assert_verdict(verdict(f->b, len, head, ZCG_F_GRO, FETCH_COPY, NULL),
			       want, f->b, len, "length %u, %u linear", len, head);
	}
}

static void cut_on_the_wire(void **state)
{
	struct built f;
	uint32_t cut;

	build(&f, *state);
	for (cut = 0; cut <= f.len; cut++)
		every_split(&f, cut, rule_wire(&f, cut));
}

static void cut_by_the_sender(void **state)
{
	struct built f, g;
	uint32_t cut;

	build(&f, *state);
	for (cut = f.ip + (f.spec.ov6 ? 40 : 20 + f.spec.oopts); cut <= f.end; cut++) {
		g = f;
		if (cut >= f.udp + 6)
			outer_len(&g, cut);
		else if (f.spec.ov6)
			put16(g.b + g.ip + 4, cut - g.udp);
		else
			put16(g.b + g.ip + 2, cut - g.ip);
		every_split(&g, cut, rule_sender(&f, cut));
		/* The same with the rest of the frame behind it, as padding. */
		every_split(&g, f.len, rule_sender(&f, cut));
	}
}

/* The inner packet alone shortened: the sum is over other bytes and wrong. */
static void inner_shortened(void **state)
{
	enum zcg_reason want;
	struct built f, g;
	uint32_t end, min;

	build(&f, *state);
	if (f.spec.l4 == 17)
		return;	/* the UDP length then differs, see the table's rows */
	min = f.il4 + 20 + f.spec.topts;
	for (end = f.il4; end < f.iend; end++) {
		g = f;
		put16(g.b + g.iip + (f.spec.iv6 ? 4 : 2),
		      end - (f.spec.iv6 ? f.il4 : f.iip));
		want = end < min ? ZCG_MALFORMED : ZCG_INNER_BAD;
		assert_verdict(verdict(g.b, g.len, g.len, ZCG_F_GRO, FETCH_COPY, NULL),
			       want, g.b, g.len, "inner end %u", end);
		assert_verdict(oracle(g.b, g.len, ZCG_F_GRO), want, g.b, g.len,
			       "by the oracle, inner end %u", end);
	}
}

/* A fetch that fails is the end of the frame, never of the kernel. */
static void fetch_fails(void **state)
{
	enum zcg_reason got, want;
	struct verdict_log log;
	struct built f;
	uint32_t head;

	build(&f, *state);
	for (head = 0; head <= f.len; head++) {
		got = verdict(f.b, f.len, head, ZCG_F_GRO, FETCH_FAILS, &log);
		assert_true(log.fetches <= 1);
		want = !log.fetches ? ZCG_VERIFIED :
		       head < f.udp + 8 ? ZCG_NOT_OURS :
		       head < f.tun + 8 ? ZCG_MALFORMED : ZCG_MALFORMED;
		assert_verdict(got, want, f.b, f.len, "%u linear, fetch fails", head);
	}
	/* All headers are read, so with none linear all are asked for. */
	verdict(f.b, f.len, 0, ZCG_F_GRO, FETCH_COPY, &log);
	assert_true(log.fetches >= 6);
}

size_t cut_tests(struct CMUnitTest *list)
{
	static char names[4 * 64][64];
	static const struct {
		const char *what;
		void (*test)(void **state);
	} kinds[] = {
		{ "cut at every byte on the wire", cut_on_the_wire },
		{ "cut at every byte by the sender", cut_by_the_sender },
		{ "inner packet shortened to every length", inner_shortened },
		{ "fetch fails for every linear length", fetch_fails },
	};
	size_t n = 0, k;
	unsigned int i;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (i = 0; i < nbases; i++) {
			if (kinds[k].test == inner_shortened && bases[i].l4 == 17)
				continue;
			snprintf(names[n], sizeof(names[n]), "base %u: %s", i, kinds[k].what);
			list[n] = (struct CMUnitTest){
				names[n], kinds[k].test, NULL, NULL, (void *)(uintptr_t)&bases[i],
			};
			n++;
		}
	}
	return n;
}
