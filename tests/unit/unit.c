// SPDX-License-Identifier: GPL-2.0
/*
 * All unit tests of include/ in one program, so that there is one TAP plan.
 *
 * usage: unit [PATTERN]   (only the tests whose name matches, with * and ?)
 */
#include "unit.h"

void promise_broken(const char *promise)
{
	fail_msg("the parser breaks its promise: %s", promise);
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[TESTS_MAX];
	size_t n = 0;

	if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
		fprintf(stderr, "usage: %s [PATTERN]\n", argv[0]);
		return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);

	n += ports_tests(tests + n);
	n += table_tests(tests + n);
	n += cut_tests(tests + n);
	n += flip_tests(tests + n);
	n += corpus_tests(tests + n);
	n += random_tests(tests + n);
	if (n > TESTS_MAX)
		abort();

	cmocka_set_message_output(CM_OUTPUT_TAP);
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* cmocka counts a filtered-out test as none at all */
	return _cmocka_run_group_tests("unit", tests, n, NULL, NULL) ? 1 : 0;
}
