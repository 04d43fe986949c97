// SPDX-License-Identifier: GPL-2.0
/*
 * Reads corpus.txt: frames in hexadecimal, one a line, # begins a comment.
 */
#include "frames.h"

FILE *corpus_open(void)
{
	FILE *in = fopen(CORPUS, "r");

	if (!in) {
		perror(CORPUS);
		exit(1);
	}
	return in;
}

static int digit(int c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? at - digits : -1;
}

long corpus_next(FILE *in, uint8_t *b)
{
	char line[2 * FRAME_MAX + 2];
	size_t n, i;

	do {
		if (!fgets(line, sizeof(line), in))
			return -1;
	} while (line[0] == '#');

	n = strcspn(line, "\n");
	for (i = 0; i < n; i += 2) {
		if (line[n] != '\n' || digit(line[i]) < 0 || digit(line[i + 1]) < 0) {
			fprintf(stderr, "%s: no frame: %.40s...\n", CORPUS, line);
			exit(1);
		}
		b[i / 2] = digit(line[i]) * 16 + digit(line[i + 1]);
	}
	return n / 2;
}
