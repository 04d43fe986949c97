// SPDX-License-Identifier: GPL-2.0
/*
 * The frames of corpus.txt, which the fuzzer found to take ways through the
 * parser of their own: each as it is, and cut to every length up to 128 bytes
 * with every length of its linear part. The sanitizers see each byte that is
 * read behind the end; the oracle says what the verdict is.
 */
#include "unit.h"

#define CUT_MAX	128

static void agree(const uint8_t *b, uint32_t len, uint32_t head, uint32_t flags)
{
	assert_verdict(verdict(b, len, head, flags, FETCH_COPY, NULL),
		       oracle(b, len, flags), b, len, "%u linear, flags %u", head, flags);
}

static void every_frame(void **state)
{
	uint32_t count[ZCG_REASONS] = { 0 }, flags, total = 0;
	uint8_t b[FRAME_MAX];
	FILE *in = corpus_open();
	long len;
	int r;

	(void)state;
	while ((len = corpus_next(in, b)) >= 0) {
		for (flags = 0; flags <= (ZCG_F_GRO | ZCG_F_DEFER); flags++) {
			agree(b, len, len, flags);
			agree(b, len, len / 2, flags);
			count[oracle(b, len, flags)]++;
		}
		total++;
	}
	fclose(in);
	printf("# %u frames of the corpus, with all flags:", total);
	for (r = 0; r < ZCG_REASONS; r++)
		printf(" %s %u", reason_name((enum zcg_reason)r), count[r]);
	printf("\n");
	for (r = 0; r < ZCG_REASONS; r++)
		assert_true(count[r]);
}

static void every_length(void **state)
{
	uint8_t b[FRAME_MAX];
	FILE *in = corpus_open();
	uint32_t cut, head;
	long len;

	(void)state;
	while ((len = corpus_next(in, b)) >= 0) {
		for (cut = 0; cut <= len && cut <= CUT_MAX; cut++) {
			for (head = 0; head <= cut; head++)
				agree(b, cut, head, ZCG_F_GRO);
		}
	}
	fclose(in);
}

size_t corpus_tests(struct CMUnitTest *list)
{
	const struct CMUnitTest tests[] = {
		{ "frames of the corpus get the oracle's verdict", every_frame, NULL, NULL, NULL },
		{ "and so they do cut to every length and split", every_length, NULL, NULL, NULL },
	};

	memcpy(list, tests, sizeof(tests));
	return sizeof(tests) / sizeof(tests[0]);
}
