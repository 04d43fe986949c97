/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few names of the kernel that the parser uses, for a build in the kernel
 * and for one in user space (unit tests, fuzzers). No other header of the
 * parser asks which of the two it is in.
 */
#ifndef ZCG_TYPES_H
#define ZCG_TYPES_H

#ifdef __KERNEL__

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <asm/byteorder.h>

#else /* user space */

#include <sys/cdefs.h>	/* __always_inline */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include <asm/byteorder.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#define __force

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)

#define cpu_to_be16(x)		__cpu_to_be16(x)
#define cpu_to_be32(x)		__cpu_to_be32(x)
#define be16_to_cpu(x)		__be16_to_cpu(x)

#endif /* __KERNEL__ */

#endif /* ZCG_TYPES_H */
