/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receiver of the bench: connects, reads and throws away, with as few
 * instructions of its own as a program can. One process, one read() of up to
 * 256 KiB whenever a connection has data.
 *
 * iperf3 can't be used: it wants a control connection with another iperf3, and
 * the sender here is part of the emulator (tests/x520/x520_peer.h).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static char buffer[256 * 1024];

static void die(const char *what)
{
	fprintf(stderr, "sink: %s: %s\n", what, strerror(errno));
	exit(1);
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int flows, poll, fd, i, n;

	if (argc != 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1 ||
	    (flows = atoi(argv[3])) < 1 || flows > 64) {
		fprintf(stderr, "usage: sink ADDRESS PORT FLOWS\n"
			"Reads from FLOWS (1 to 64) connections to ADDRESS until it is killed;\n"
			"says \"connected\" when all are open.\n");
		return 2;
	}
	to.sin_port = htons(atoi(argv[2]));
	poll = epoll_create1(0);
	if (poll < 0)
		die("epoll");
	for (i = 0; i < flows; i++) {
		struct epoll_event event = { .events = EPOLLIN };

		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
			die("connect");
		event.data.fd = fd;
		if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event))
			die("epoll");
	}
	puts("connected");
	fflush(stdout);
	for (;;) {
		struct epoll_event events[64];

		n = epoll_wait(poll, events, 64, -1);
		if (n < 0 && errno != EINTR)
			die("epoll");
		for (i = 0; i < n; i++) {
			ssize_t got = read(events[i].data.fd, buffer, sizeof(buffer));

			if (got <= 0) {
				if (!got)
					errno = ECONNRESET;
				die("read");
			}
		}
	}
}
