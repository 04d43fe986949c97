/* SPDX-License-Identifier: GPL-2.0 */
/* What the test files share: cmocka, and one list of tests per file. */
#ifndef UNIT_H
#define UNIT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "frames.h"

struct CMUnitTest;

/* Each file appends its tests to @list and returns how many those are. */
size_t ports_tests(struct CMUnitTest *list);
size_t table_tests(struct CMUnitTest *list);
size_t cut_tests(struct CMUnitTest *list);
size_t flip_tests(struct CMUnitTest *list);
size_t corpus_tests(struct CMUnitTest *list);
size_t random_tests(struct CMUnitTest *list);

#define TESTS_MAX	320

/* Fails the test, with the frame, unless the two verdicts are the same. */
#define assert_verdict(got, want, frame, len, ...) do {			\
	enum zcg_reason got_ = (got), want_ = (want);			\
									\
	if (got_ != want_) {						\
		printf("# verdict %s, should be %s, ", reason_name(got_),	\
		       reason_name(want_));				\
		printf(__VA_ARGS__);					\
		dump(stdout, frame, len);				\
		fail_msg("verdict %s, should be %s", reason_name(got_),	\
			 reason_name(want_));				\
	}								\
} while (0)

#endif /* UNIT_H */
