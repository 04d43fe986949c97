/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A received frame as the parser sees it: bytes and lengths, nothing of an
 * sk_buff. The caller says how bytes outside the linear part are reached and
 * how a checksum is summed; everything else here works on plain memory.
 */
#ifndef ZCG_FRAME_H
#define ZCG_FRAME_H

#include "zcg_types.h"

/**
 * struct zcg_frame - one received frame
 * @head: its first byte, of the Ethernet destination address; any alignment
 * @headlen: number of bytes that may be read at @head
 * @len: length of the whole frame without FCS, in bytes; not below @headlen
 * @ctx: for the caller's &struct zcg_ops only (the sk_buff, in the kernel)
 */
struct zcg_frame {
	const u8 *head;
	u32 headlen;
	u32 len;
	const void *ctx;
};

/**
 * struct zcg_ops - how the parser reaches what it cannot read at @head
 * @fetch: make @n bytes (at most ZCG_FETCH_MAX) from @off readable. Called only
 *	for bytes that do not all lie in the linear part, and only with
 *	@off + @n <= @f->len. @buf has room for @n bytes. Returns a pointer to
 *	them, in @buf or in place, of any alignment; NULL if they cannot be
 *	read, and the frame then counts as cut off there. skb_header_pointer()
 *	on the sk_buff does exactly this.
 * @csum: ones' complement sum (RFC 1071) of the 16-bit words of @len bytes from
 *	@off, plus @seed, folded to 16 bits and not inverted. Words are paired
 *	from @off on, whether @off is odd or even, an odd last byte is followed
 *	by a zero, and words are taken as they lie in memory. @seed is a 32-bit
 *	partial sum of such words, what the kernel calls a __wsum. So in the
 *	kernel: (u16)~csum_fold(skb_checksum(skb, off, len, seed)). A checksum
 *	holds if the result is 0xffff. Called at most once per frame, and only
 *	with @len > 0 and @off + @len <= @f->len.
 *
 * Make it a static const object, so that both calls are direct or inlined.
 */
struct zcg_ops {
	const void *(*fetch)(const struct zcg_frame *f, u32 off, u32 n,
			     void *buf);
	u16 (*csum)(const struct zcg_frame *f, u32 off, u32 len, u32 seed);
};

/* The longest header part read at once: the fixed header of IPv6 (RFC 8200). */
#define ZCG_FETCH_MAX	40

/* 16 and 32 bits as they lie in memory: to add up or to compare with zero. */
static __always_inline u16 zcg_raw16(const u8 *p)
{
	u16 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

static __always_inline u32 zcg_raw32(const u8 *p)
{
	u32 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

/* 16 bits in network order as a number. */
static __always_inline u16 zcg_be16(const u8 *p)
{
	return be16_to_cpu((__force __be16)zcg_raw16(p));
}

/**
 * zcg_bytes - make some bytes of a header readable
 * @ops: the caller's way to bytes outside the linear part
 * @f: the frame
 * @off: first byte wanted, counted from the Ethernet header
 * @n: how many, at most ZCG_FETCH_MAX
 * @end: where the packet ends that these bytes must be a part of; <= @f->len
 * @buf: ZCG_FETCH_MAX bytes to copy to if the bytes are not linear; what an
 *	earlier call returned may lie there and is then gone
 *
 * Return: pointer to @n bytes, NULL if they are not all in front of @end.
 */
static __always_inline const u8 *
zcg_bytes(const struct zcg_ops *ops, const struct zcg_frame *f, u32 off, u32 n,
	  u32 end, u8 *buf)
{
	if (unlikely(off > end || n > end - off))
		return NULL;
	if (likely(off + n <= f->headlen))
		return f->head + off;
	return ops->fetch(f, off, n, buf);
}

#endif /* ZCG_FRAME_H */
