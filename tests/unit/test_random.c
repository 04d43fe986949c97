// SPDX-License-Identifier: GPL-2.0
/* Random frames, most of them nearly right, against the oracle. */
#include "unit.h"

#define ROUNDS	300000u

static void random_frames(void **state)
{
	uint64_t st = seed_from_env(), before;
	uint32_t count[ZCG_REASONS] = { 0 }, i, len, head, flags, flipped = 0;
	uint8_t b[FRAME_MAX];
	enum zcg_reason want;
	long bit;
	int r;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		before = st;
		len = random_frame(&st, b);
		head = rnd(&st) % 2 ? len : rnd(&st) % (len + 1);
		flags = rnd(&st) % 16 ? ZCG_F_GRO : rnd(&st) % 4;
		want = oracle(b, len, flags);
		assert_verdict(verdict(b, len, head, flags, rnd(&st) % 2 ? FETCH_COPY :
				       FETCH_IN_PLACE, NULL), want, b, len,
			       "round %u, state %llu, %u linear, flags %u", i,
			       (unsigned long long)before, head, flags);
		count[want]++;

		/* A bit of what the inner checksum covers must not pass. */
		bit = flip_covered(b, len, rnd(&st));
		if (bit < 0)
			continue;
		flipped++;
		if (zcg_claim_level(verdict(b, len, head, ZCG_F_GRO, FETCH_COPY, NULL)) == 1) {
			dump(stdout, b, len);
			fail_msg("bit %ld is covered, flipped, and claimed", bit);
		}
	}
	/* Every verdict was reached, or the frames are not what they should be. */
	printf("# %u random frames:", ROUNDS);
	for (r = 0; r < ZCG_REASONS; r++)
		printf(" %s %u", reason_name((enum zcg_reason)r), count[r]);
	printf(", of those verified %u with a covered bit flipped\n", flipped);
	assert_true(flipped > ROUNDS / 100);
	for (r = 0; r < ZCG_REASONS; r++)
		assert_true(count[r] > ROUNDS / 1000);
}

/* Bytes without any plan: must be survived, and are hardly ever anything. */
static void noise(void **state)
{
	uint64_t st = seed_from_env();
	uint8_t b[256];
	uint32_t i, j, len;

	(void)state;
	for (i = 0; i < ROUNDS / 3; i++) {
		len = rnd(&st) % sizeof(b);
		for (j = 0; j < len; j++)
			b[j] = rnd(&st);
		if (len > 24 && i % 2)
			memcpy(b + 12, i % 4 == 1 ? "\x08\x00\x45" : "\x86\xdd\x60", 3);
		assert_verdict(verdict(b, len, len / 2, ZCG_F_GRO, FETCH_COPY, NULL),
			       oracle(b, len, ZCG_F_GRO), b, len, "noise %u", i);
	}
}

size_t random_tests(struct CMUnitTest *list)
{
	const struct CMUnitTest tests[] = {
		{ "random frames get the oracle's verdict", random_frames, NULL, NULL, NULL },
		{ "noise is survived", noise, NULL, NULL, NULL },
	};

	memcpy(list, tests, sizeof(tests));
	return sizeof(tests) / sizeof(tests[0]);
}
