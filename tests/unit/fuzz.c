// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer on the parser: any bytes, any split, any flags; the oracle has the
 * last word, the sanitizers watch.
 *
 * Input: one byte flags and fetch mode, two bytes linear length, the frame.
 * With ZCG_FUZZ_SEEDS=DIR the base frames and those of corpus.txt are written
 * there as a first corpus.
 */
#include "frames.h"

#define PREFIX	3

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

void promise_broken(const char *promise)
{
	fprintf(stderr, "the parser breaks its promise: %s\n", promise);
	abort();
}

static void write_seed(const char *dir, const char *kind, unsigned int number,
		       const uint8_t *b, uint32_t len)
{
	uint8_t prefix[PREFIX] = { ZCG_F_GRO, 0, 0 };
	char name[4096];
	FILE *out;

	snprintf(name, sizeof(name), "%s/%s%u", dir, kind, number);
	out = fopen(name, "wb");
	if (!out || fwrite(prefix, PREFIX, 1, out) != 1 ||
	    fwrite(b, 1, len, out) != len || fclose(out)) {
		perror(name);
		exit(1);
	}
}

static void write_seeds(const char *dir)
{
	uint8_t b[FRAME_MAX];
	struct built f;
	unsigned int i;
	long len;
	FILE *in;

	for (i = 0; i < nbases; i++) {
		build(&f, &bases[i]);
		write_seed(dir, "base", i, f.b, f.len);
	}
	in = corpus_open();
	for (i = 0; (len = corpus_next(in, b)) >= 0; i++)
		write_seed(dir, "corpus", i, b, len);
	fclose(in);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("ZCG_FUZZ_SEEDS");

	(void)argc;
	(void)argv;
	if (dir)
		write_seeds(dir);
	return 0;
}

/*
 * Bytes alone hardly ever keep lengths and checksums whole, so half of the
 * inputs are frames of the random test, with libFuzzer's changes on top.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	uint64_t st = seed * 0x9e3779b97f4a7c15ull + 1;
	uint8_t b[FRAME_MAX];
	uint32_t len;

	if (rnd(&st) % 2 && max > PREFIX) {
		len = random_frame(&st, b);
		if (len > max - PREFIX)
			len = max - PREFIX;
		data[0] = rnd(&st);
		data[1] = rnd(&st);
		data[2] = rnd(&st);
		memcpy(data + PREFIX, b, len);
		size = PREFIX + len;
		if (rnd(&st) % 2)
			return size;
	}
	return LLVMFuzzerMutate(data, size, max);
}

/* Of a frame that is claimed at level 1, with any covered bit flipped, that is not. */
static void flips(const uint8_t *frame, uint32_t len, uint32_t head)
{
	uint64_t st = len * 65537ull + head + 1;
	uint8_t b[FRAME_MAX];
	uint32_t i;
	long bit;

	for (i = 0; i < 8; i++) {
		memcpy(b, frame, len);
		bit = flip_covered(b, len, rnd(&st));
		if (bit < 0 ||
		    zcg_claim_level(verdict(b, len, head, ZCG_F_GRO, FETCH_COPY, NULL)) != 1)
			continue;
		fprintf(stderr, "bit %ld is covered, flipped, and claimed, %u bytes, %u linear",
			bit, len, head);
		dump(stderr, b, len);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t len, head, flags;
	enum zcg_reason got, want;

	if (size < PREFIX || size - PREFIX > FRAME_MAX)
		return 0;
	flags = data[0] & (ZCG_F_GRO | ZCG_F_DEFER);
	len = size - PREFIX;
	head = len - get16(data + 1) % (len + 1);

	want = oracle(data + PREFIX, len, flags);
	got = verdict(data + PREFIX, len, head, flags,
		      data[0] & 8 ? FETCH_IN_PLACE : FETCH_COPY, NULL);
	if (got != want) {
		fprintf(stderr, "verdict %s, should be %s, %u bytes, %u linear, flags %u",
			reason_name(got), reason_name(want), len, head, flags);
		dump(stderr, data + PREFIX, len);
		abort();
	}
	if (zcg_claim_level(got) == 1)
		flips(data + PREFIX, len, head);
	return 0;
}
