// SPDX-License-Identifier: GPL-2.0
/*
 * Every single bit of every base frame flipped. The oracle must agree on each;
 * and since a ones' complement sum sees any single flipped bit, none in what
 * the inner checksum covers may ever be claimed at level 1.
 */
#include "unit.h"

/* Byte i is covered by the inner checksum: addresses, protocol, segment. */
static int covered(const struct built *f, uint32_t i)
{
	uint32_t addr = f->iip + (f->spec.iv6 ? 8 : 12);
	uint32_t proto = f->iip + (f->spec.iv6 ? 6 : 9);

	if (f->spec.l4 == 17 && f->spec.zero)
		return 0;
	return (i >= addr && i < addr + (f->spec.iv6 ? 32 : 8)) || i == proto ||
	       (i >= f->il4 && i < f->iend);
}

static void every_bit(void **state)
{
	uint32_t bit, level1 = 0, flags;
	enum zcg_reason got, want;
	struct built f;

	build(&f, *state);
	/* A UDP checksum of one bit would turn into "none" and rightly pass. */
	if (f.spec.l4 == 17 && !f.spec.zero)
		assert_true(__builtin_popcount(get16(f.b + f.il4 + 6)) > 1);

	for (bit = 0; bit < f.len * 8; bit++) {
		f.b[bit / 8] ^= 1 << bit % 8;
		for (flags = 0; flags <= (ZCG_F_GRO | ZCG_F_DEFER); flags++) {
			want = oracle(f.b, f.len, flags);
			got = verdict(f.b, f.len, f.len, flags, FETCH_COPY, NULL);
			assert_verdict(got, want, f.b, f.len, "bit %u, flags %u", bit, flags);
			got = verdict(f.b, f.len, bit / 8, flags, FETCH_COPY, NULL);
			assert_verdict(got, want, f.b, f.len, "bit %u, flags %u, split there", bit, flags);
			if (zcg_claim_level(got) != 1)
				continue;
			level1++;
			if (covered(&f, bit / 8)) {
				dump(stdout, f.b, f.len);
				fail_msg("bit %u is covered, flipped, and claimed", bit);
			}
		}
		f.b[bit / 8] ^= 1 << bit % 8;
	}
	/* MAC addresses and the like do not matter: the test is not vacuous. */
	assert_true(level1 > 96);
}

/* Known sums, so that builder, oracle and parser do not share one mistake. */
static void known_frame(void **state)
{
	/*
	 * A VXLAN frame put down by hand: inner 10.0.0.1 to 10.0.0.2, UDP 1 to 2,
	 * "AB". Sum: 0a00+0001+0a00+0002+0011+000a+0001+0002+000a+4142 = 556d,
	 * checksum aa92.
	 */
	static const uint8_t frame[] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00,
		0x45, 0, 0, 80, 0, 0, 0, 0, 64, 17, 0, 0, 192, 168, 1, 2, 192, 168, 1, 1,
		0xc0, 0x00, 0x16, 0x86, 0, 60, 0, 0,
		0x08, 0, 0, 0, 0, 0, 2, 0,
		2, 0, 0, 0, 0, 3, 2, 0, 0, 0, 0, 4, 0x08, 0x00,
		0x45, 0, 0, 30, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0, 1, 0, 2, 0, 10, 0xaa, 0x92, 'A', 'B',
	};
	uint8_t bad[sizeof(frame)];

	(void)state;
	assert_int_equal(sizeof(frame), 14 + 80);
	assert_verdict(verdict(frame, sizeof(frame), sizeof(frame), ZCG_F_GRO, FETCH_COPY, NULL),
		       ZCG_VERIFIED, frame, (uint32_t)sizeof(frame), "by hand");
	assert_verdict(oracle(frame, sizeof(frame), ZCG_F_GRO), ZCG_VERIFIED, frame,
		       (uint32_t)sizeof(frame), "by hand, oracle");
	memcpy(bad, frame, sizeof(bad));
	bad[sizeof(bad) - 3] = 0x93;
	assert_verdict(verdict(bad, sizeof(bad), sizeof(bad), ZCG_F_GRO, FETCH_COPY, NULL),
		       ZCG_INNER_BAD, bad, (uint32_t)sizeof(bad), "by hand");
	assert_verdict(oracle(bad, sizeof(bad), ZCG_F_GRO), ZCG_INNER_BAD, bad,
		       (uint32_t)sizeof(bad), "by hand, oracle");
}

size_t flip_tests(struct CMUnitTest *list)
{
	static char names[64][64];
	unsigned int i;

	for (i = 0; i < nbases; i++) {
		snprintf(names[i], sizeof(names[i]), "base %u: every bit flipped", i);
		list[i] = (struct CMUnitTest){
			names[i], every_bit, NULL, NULL, (void *)(uintptr_t)&bases[i],
		};
	}
	list[nbases] = (struct CMUnitTest){
		"a frame and its checksum put down by hand", known_frame, NULL, NULL, NULL,
	};
	return nbases + 1;
}
