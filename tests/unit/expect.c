// SPDX-License-Identifier: GPL-2.0
/*
 * What the driver should make of the frames of a pcap: runs each through the
 * model of the tests (oracle.c) and through the parser, and prints how often
 * each verdict came. A selftest that sends the file on the wire compares these
 * numbers with the driver's counters.
 *
 * Known ports: 5766 VXLAN, 4790 VXLAN-GPE, 6081 Geneve.
 */
#include <getopt.h>

#include "../frames/pcap.h"
#include "frames.h"

#define WIRE_MIN	60	/* Ethernet pads up to this, without FCS */

static const char usage_text[] =
	"usage: expect [-g] [-v] PCAP\n"
	"Prints one line \"VERDICT COUNT\" per verdict for the frames of PCAP as they\n"
	"arrive (padded to 60 bytes), with GRO on, then what ethtool -S would show.\n"
	"  -g  with GRO off\n"
	"  -v  also the verdict on each frame\n";

void promise_broken(const char *promise)
{
	fprintf(stderr, "expect: the parser breaks its promise: %s\n", promise);
	exit(1);
}

/* The hardware checks the outer IPv4 header, behind any tags that it strips. */
static int header_sum_wrong(const uint8_t *b, uint32_t len)
{
	uint32_t at = 12, i, hlen, sum = 0;

	while (at + 2 <= len && (get16(b + at) == 0x8100 || get16(b + at) == 0x88a8))
		at += 4;
	if (at + 22 > len || get16(b + at) != 0x0800)
		return 0;
	at += 2;
	hlen = (b[at] & 15) * 4;
	if (hlen < 20 || at + hlen > len)
		return 0;
	for (i = 0; i < hlen; i += 2)
		sum += get16(b + at + i);
	return sum % 65535 != 0;
}

int main(int argc, char **argv)
{
	static uint8_t frame[65536];
	unsigned long count[ZCG_REASONS] = { 0 }, n = 0, seen = 0, outer = 0;
	uint32_t flags = ZCG_F_GRO, f;
	enum zcg_reason want, got;
	int opt, verbose = 0, r;
	struct pcap pcap;
	long len;

	if (argc > 1 && !strcmp(argv[1], "--help")) {
		fputs(usage_text, stdout);
		return 0;
	}
	while ((opt = getopt(argc, argv, "gv")) != -1) {
		if (opt == 'g') {
			flags = 0;
		} else if (opt == 'v') {
			verbose = 1;
		} else {
			fputs(usage_text, stderr);
			return 2;
		}
	}
	if (argc - optind != 1) {
		fputs(usage_text, stderr);
		return 2;
	}
	if (pcap_open(&pcap, argv[optind]))
		return 1;
	while ((len = pcap_next(&pcap, frame, sizeof(frame))) > 0) {
		if (len < WIRE_MIN) {
			memset(frame + len, 0, WIRE_MIN - len);
			len = WIRE_MIN;
		}
		f = flags | (header_sum_wrong(frame, len) ? ZCG_F_IP_ERR : 0);
		want = oracle(frame, len, f);
		got = verdict(frame, len, len < 256 ? len : 256, f, FETCH_COPY, NULL);
		if (got != want) {
			fprintf(stderr, "expect: frame %lu: verdict %s, should be %s",
				n, reason_name(got), reason_name(want));
			dump(stderr, frame, len);
			return 1;
		}
		if (verbose)
			printf("# frame %lu %s\n", n, reason_name(want));
		count[want]++;
		n++;
	}
	if (len < 0)
		return 1;
	for (r = 0; r < ZCG_REASONS; r++) {
		printf("%s %lu\n", reason_name((enum zcg_reason)r), count[r]);
		if (r != ZCG_NOT_OURS)
			seen += count[r];
		if (r >= ZCG_OUTER_PROTO)
			outer += count[r];
	}
	printf("rx_zcg_seen %lu\n", seen);
	printf("rx_zcg_verified %lu\n", count[ZCG_VERIFIED]);
	printf("rx_zcg_outer_only %lu\n", outer);
	printf("rx_zcg_inner_bad %lu\n", count[ZCG_INNER_BAD]);
	printf("rx_zcg_malformed %lu\n", count[ZCG_MALFORMED]);
	return 0;
}
