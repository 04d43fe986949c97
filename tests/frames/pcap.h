/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the classic pcap format, in either byte order and with either time
 * resolution, frame by frame. No library: the guest need not have one.
 */
#ifndef PCAP_H
#define PCAP_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct pcap {
	FILE *file;
	const char *name;
	int swapped;
};

static uint32_t pcap_u32(const struct pcap *p, const uint8_t *b)
{
	uint32_t v;

	memcpy(&v, b, 4);
	return p->swapped ? __builtin_bswap32(v) : v;
}

/* Returns 0; -1 after a message that names the file and the cause. */
static int pcap_open(struct pcap *p, const char *name)
{
	uint8_t header[24];
	uint32_t magic;

	p->name = name;
	p->swapped = 0;
	p->file = strcmp(name, "-") ? fopen(name, "rb") : stdin;
	if (!p->file) {
		fprintf(stderr, "%s: %s\n", name, strerror(errno));
		return -1;
	}
	if (fread(header, sizeof(header), 1, p->file) != 1) {
		fprintf(stderr, "%s: too short for a pcap file\n", name);
		return -1;
	}
	magic = pcap_u32(p, header);
	if (magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1)
		p->swapped = 1;
	else if (magic != 0xa1b2c3d4 && magic != 0xa1b23c4d) {
		fprintf(stderr, "%s: not a pcap file (pcapng is not read: convert it)\n", name);
		return -1;
	}
	if (pcap_u32(p, header + 20) != 1) {
		fprintf(stderr, "%s: link type %u, only Ethernet (1) is read\n", name,
			pcap_u32(p, header + 20));
		return -1;
	}
	return 0;
}

/* Returns the frame's length, 0 at the end, -1 after a message. */
static long pcap_next(struct pcap *p, uint8_t *frame, uint32_t room)
{
	uint8_t header[16];
	uint32_t len;
	size_t got;

	/* an empty frame cannot be told from the end, and cannot be sent either */
	do {
		got = fread(header, 1, sizeof(header), p->file);
		if (!got && !ferror(p->file))
			return 0;
		if (got != sizeof(header)) {
			fprintf(stderr, "%s: ends within a record's header\n", p->name);
			return -1;
		}
		len = pcap_u32(p, header + 8);
	} while (!len);
	if (len > room) {
		fprintf(stderr, "%s: a frame of %u bytes, at most %u are possible\n",
			p->name, len, room);
		return -1;
	}
	if (fread(frame, len, 1, p->file) != 1) {
		fprintf(stderr, "%s: ends within a frame\n", p->name);
		return -1;
	}
	return len;
}

#endif /* PCAP_H */
