/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames for the tests: built from a description, judged by the parser under
 * test (verdict()) and by an independent model of it (oracle()).
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zcg_policy.h"

#define FRAME_MAX	2048

#define PORT_VXLAN	5766
#define PORT_GPE	4790
#define PORT_GENEVE	6081
#define PORT_OTHER	5000	/* not in the table */

/* What to build. All zero: Ethernet, IPv4, UDP, VXLAN, Ethernet, IPv4, TCP. */
struct spec {
	uint16_t otag[3];	/* outer VLAN types, 0 ends */
	int ov6;		/* outer IPv6 */
	int oopts;		/* bytes of outer IPv4 options */
	uint16_t port;		/* default: that of the tunnel */
	enum zcg_tunnel tunnel;	/* default: VXLAN */
	int gopts;		/* bytes of Geneve options */
	int bare;		/* no inner Ethernet header (GPE, Geneve) */
	uint16_t itag[3];	/* inner VLAN types */
	uint16_t itype;		/* inner Ethernet type, default by iv6 */
	int iv6;		/* inner IPv6 */
	int iopts;		/* bytes of inner IPv4 options */
	int l4;			/* inner protocol, default TCP */
	int topts;		/* bytes of inner TCP options */
	int payload;		/* bytes behind the inner TCP or UDP header */
	int zero;		/* inner UDP without a checksum */
	int ipad;		/* bytes behind the inner IP packet */
	int opad;		/* bytes behind the outer IP packet */
	uint32_t seed;		/* of the payload bytes */
};

/* The frame, and where its parts begin. */
struct built {
	struct spec spec;
	uint8_t b[FRAME_MAX];
	uint32_t len;
	uint32_t ip, udp, tun, in;	/* outer IP, UDP, tunnel, payload */
	uint32_t iip, il4, iend;	/* inner IP, TCP or UDP, its end */
	uint32_t end;			/* of the outer IP packet */
};

void build(struct built *f, const struct spec *s);
void sum_inner(struct built *f);	/* set the inner checksum anew */
void outer_len(struct built *f, uint32_t end);	/* end the outer packet there */
void put16(uint8_t *p, uint16_t v);
uint16_t get16(const uint8_t *p);

/* Bases: descriptions that cover all the header combinations. */
extern const struct spec bases[];
extern const unsigned int nbases;

/* The ports PORT_VXLAN, PORT_GPE and PORT_GENEVE. */
extern const struct zcg_ports ports;

/* How bytes outside the linear part are handed out. */
enum fetch_mode {
	FETCH_COPY,	/* in the parser's buffer */
	FETCH_IN_PLACE,	/* in the frame, at an odd address */
	FETCH_FAILS,
};

struct verdict_log {
	unsigned int fetches, csums;
	bool plain;	/* zcg_decide_any() need not be asked */
};

/* Called when the parser breaks a promise of its interface; does not return. */
void promise_broken(const char *promise);

/* The parser's verdict on @len bytes at @b of which @headlen are linear. */
enum zcg_reason verdict(const uint8_t *b, uint32_t len, uint32_t headlen,
			uint32_t flags, enum fetch_mode mode,
			struct verdict_log *log);

/* What the verdict should be, found another way; see oracle.c. */
enum zcg_reason oracle(const uint8_t *b, uint32_t len, uint32_t flags);

/* Bytes of a frame, from one up to the one in front of another. */
struct range {
	uint32_t from, to;
};

/*
 * What the inner checksum that was computed covers: addresses, protocol, TCP or
 * UDP; all empty if none was. @sum: where the checksum is, if zero there means
 * that there is none, else 0.
 */
struct covered {
	struct range part[3];
	uint32_t sum;
};

/* The same, and what the verdict hangs on. */
enum zcg_reason oracle_covers(const uint8_t *b, uint32_t len, uint32_t flags,
			      struct covered *c);

/*
 * Flip a bit that the verified inner checksum of the frame covers, after which
 * level 1 must not be claimed. Returns which, or -1: there is none, no change.
 */
long flip_covered(uint8_t *b, uint32_t len, uint32_t random);

const char *reason_name(enum zcg_reason r);
void dump(FILE *out, const uint8_t *b, uint32_t len);

/*
 * The frames of corpus.txt, one after the other; -1 after the last. A line that
 * is no frame, or no file, ends the program.
 */
FILE *corpus_open(void);
long corpus_next(FILE *in, uint8_t *b);

/* xorshift; a seed gives the same frames everywhere */
uint32_t rnd(uint64_t *state);
/* ZCG_SEED from the environment or from the clock; prints it as a TAP comment */
uint64_t seed_from_env(void);
/* A random frame: any base, any lengths, some of it broken. Returns its length */
uint32_t random_frame(uint64_t *state, uint8_t *b);

#endif /* FRAMES_H */
