// SPDX-License-Identifier: GPL-2.0
/*
 * Sends the frames of a pcap file on an interface, as they are.
 *
 * Builds with "cc -O2 -o inject inject.c" and needs nothing but libc.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pcap.h"

#define FRAME_ROOM	65536
#define ETH_ADDRS	14
#define P_ALL		0x0003	/* ETH_P_ALL */
#define RETRY_NS	100000
#define RETRIES		100000	/* ten seconds without progress */

static const char usage_text[] =
	"usage: inject [-r FRAMES_PER_SECOND] [-l LOOPS] INTERFACE PCAP\n"
	"Sends every frame of PCAP (- is stdin) on INTERFACE, unchanged, and prints how\n"
	"many it sent. Needs CAP_NET_RAW. Frames that the interface cannot take (shorter\n"
	"than an Ethernet header, longer than its MTU) are counted and passed over.\n"
	"  -r  at most so many frames per second (default: as fast as possible)\n"
	"  -l  send the whole file so many times (default 1)\n";

struct counts {
	unsigned long sent, refused, retried;
};

static void pause_ns(long ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&t, NULL);
}

static int open_socket(const char *name)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	struct ifreq ifr = { 0 };
	int fd;

	to.sll_ifindex = if_nametoindex(name);
	if (!to.sll_ifindex) {
		fprintf(stderr, "inject: interface %s: %s\n", name, strerror(errno));
		return -1;
	}
	/* protocol 0: nothing is received */
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0) {
		fprintf(stderr, "inject: no packet socket: %s (are you root?)\n", strerror(errno));
		return -1;
	}
	strncpy(ifr.ifr_name, name, IFNAMSIZ - 1);
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) || !(ifr.ifr_flags & IFF_UP)) {
		fprintf(stderr, "inject: interface %s is down: ip link set %s up\n", name, name);
		close(fd);
		return -1;
	}
	if (bind(fd, (struct sockaddr *)&to, sizeof(to))) {
		fprintf(stderr, "inject: bind to %s: %s\n", name, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

/* Returns 0 if the frame was sent or cannot be, -1 after a message. */
static int send_frame(int fd, const uint8_t *frame, size_t len, struct counts *n)
{
	int tries;

	if (len < ETH_ADDRS) {
		n->refused++;
		return 0;
	}
	for (tries = 0; tries < RETRIES; tries++) {
		if (send(fd, frame, len, 0) == (ssize_t)len) {
			n->sent++;
			return 0;
		}
		if (errno == EMSGSIZE || errno == EINVAL) {
			n->refused++;
			return 0;
		}
		if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR) {
			fprintf(stderr, "inject: send: %s\n", strerror(errno));
			return -1;
		}
		n->retried++;
		pause_ns(RETRY_NS);
	}
	fprintf(stderr, "inject: the interface takes no more frames (is its link up?)\n");
	return -1;
}

static int number(const char *text, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno && *value ? 0 : -1;
}

static int send_file(int fd, const char *name, unsigned long rate, struct counts *n)
{
	static uint8_t frame[FRAME_ROOM];
	struct timespec start, now;
	unsigned long i = 0;
	struct pcap pcap;
	double ahead;
	long len;

	if (pcap_open(&pcap, name))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &start);
	while ((len = pcap_next(&pcap, frame, sizeof(frame))) > 0) {
		if (send_frame(fd, frame, len, n))
			break;
		if (!rate)
			continue;
		clock_gettime(CLOCK_MONOTONIC, &now);
		i++;
		ahead = (double)i / rate - (now.tv_sec - start.tv_sec) -
			(now.tv_nsec - start.tv_nsec) * 1e-9;
		if (ahead > 0)
			pause_ns(ahead * 1e9);
	}
	if (pcap.file != stdin)
		fclose(pcap.file);
	return len == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	unsigned long rate = 0, loops = 1, i;
	struct counts n = { 0 };
	int fd, opt, rc = 0;

	if (argc > 1 && !strcmp(argv[1], "--help")) {
		fputs(usage_text, stdout);
		return 0;
	}
	while ((opt = getopt(argc, argv, "r:l:")) != -1) {
		if ((opt != 'r' && opt != 'l') || number(optarg, opt == 'r' ? &rate : &loops)) {
			if (opt == 'r' || opt == 'l')
				fprintf(stderr, "inject: -%c %s: not a positive number\n", opt, optarg);
			fputs(usage_text, stderr);
			return 2;
		}
	}
	if (argc - optind != 2) {
		fputs(usage_text, stderr);
		return 2;
	}
	fd = open_socket(argv[optind]);
	if (fd < 0)
		return 1;
	for (i = 0; i < loops && !rc; i++)
		rc = send_file(fd, argv[optind + 1], rate, &n);
	close(fd);
	printf("sent %lu refused %lu retried %lu\n", n.sent, n.refused, n.retried);
	return rc ? 1 : 0;
}
