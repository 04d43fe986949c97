/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: descriptor formats.
 *
 * Field positions are those of the 82599 datasheet, sections 7.1.5 to 7.1.6
 * (receive) and 7.2.3 (transmit). Every descriptor is 16 bytes, little endian.
 */

#ifndef HW_NET_X520_DESC_H
#define HW_NET_X520_DESC_H

#define X520_DESC_SIZE          16

/* Receive descriptor as software writes it: packet and header buffer. */
typedef struct X520RxDesc {
    uint64_t pkt_addr;
    uint64_t hdr_addr;
} X520RxDesc;

/* Advanced receive write-back, first quadword */
#define X520_RXD_HASH_SHIFT     32              /* RSS hash, 63:32 */
#define X520_RXD_RSCCNT_SHIFT   17              /* coalesced packets, 20:17 */
/* RSS type, 3:0 */
#define X520_RSSTYPE_NONE       0
#define X520_RSSTYPE_IPV4_TCP   1
#define X520_RSSTYPE_IPV4       2
#define X520_RSSTYPE_IPV6_TCP   3
#define X520_RSSTYPE_IPV6       5
#define X520_RSSTYPE_IPV4_UDP   7
#define X520_RSSTYPE_IPV6_UDP   8
#define X520_RSSTYPE_FDIR       15              /* the hash is a filter's */
/* Packet type, 15:4 */
#define X520_PTYPE_IPV4         0x0010
#define X520_PTYPE_IPV4E        0x0020          /* with options */
#define X520_PTYPE_IPV6         0x0040
#define X520_PTYPE_IPV6E        0x0080          /* with extension headers */
#define X520_PTYPE_TCP          0x0100
#define X520_PTYPE_UDP          0x0200
#define X520_PTYPE_SCTP         0x0400
#define X520_PTYPE_ESP          0x1000
#define X520_PTYPE_AH           0x2000
#define X520_PTYPE_ETQF         0x8000          /* filter index in 6:4 */

/* Advanced receive write-back, low half of the second quadword */
#define X520_RXS_DD             0x00000001
#define X520_RXS_EOP            0x00000002
#define X520_RXS_FLM            0x00000004      /* Flow Director match */
#define X520_RXS_VP             0x00000008      /* 802.1Q tag seen */
#define X520_RXS_UDPCS          0x00000010
#define X520_RXS_L4CS           0x00000020
#define X520_RXS_IPCS           0x00000040
#define X520_RXS_PIF            0x00000080      /* passed an inexact filter */
#define X520_RXS_NEXTP_SHIFT    4               /* without EOP: 19:4 */
#define X520_RXS_TS             0x00010000      /* this frame was stamped */
#define X520_RXS_LB             0x00040000      /* came back from transmit */
#define X520_RXE_RXE            0x20000000      /* MAC error, only with SBP */
#define X520_RXE_L4E            0x40000000
#define X520_RXE_IPE            0x80000000
#define X520_RXS_LEN_SHIFT      32
#define X520_RXS_VLAN_SHIFT     48

/* Legacy receive write-back, second quadword */
#define X520_RXL_STATUS_SHIFT   32
#define X520_RXL_ERRORS_SHIFT   40
#define X520_RXL_VLAN_SHIFT     48
#define X520_RXL_L4E            0x40
#define X520_RXL_IPE            0x80

/* Transmit descriptor: two dwords of address, then command and options. */
typedef struct X520TxDesc {
    uint32_t dw[4];
} X520TxDesc;

/* Third dword of a data descriptor; the legacy one has the same positions */
#define X520_TXD_DTALEN         0x0000FFFF
#define X520_TXD_DTYP           0x00F00000
#define X520_TXD_DTYP_CTXT      0x00200000
#define X520_TXD_DTYP_DATA      0x00300000
#define X520_TXD_1588           0x00080000      /* advanced only */
#define X520_TXD_EOP            0x01000000
#define X520_TXD_IFCS           0x02000000
#define X520_TXD_IC             0x04000000      /* legacy only */
#define X520_TXD_RS             0x08000000
#define X520_TXD_DEXT           0x20000000
#define X520_TXD_VLE            0x40000000
#define X520_TXD_TSE            0x80000000      /* advanced only */
#define X520_TXD_CSO_SHIFT      16              /* legacy only, 8 bits */

/* Fourth dword of an advanced data descriptor */
#define X520_TXD_DD             0x00000001
#define X520_TXD_IDX_SHIFT      4
#define X520_TXD_CC             0x00000080
#define X520_TXD_IXSM           0x00000100
#define X520_TXD_TXSM           0x00000200
#define X520_TXD_PAYLEN_SHIFT   14
/* ... and of a legacy one */
#define X520_TXD_CSS_SHIFT      8               /* 8 bits */
#define X520_TXD_VLAN_SHIFT     16

/* Context descriptor, first dword: lengths and tag */
#define X520_TXC_IPLEN          0x000001FF
#define X520_TXC_MACLEN_SHIFT   9               /* 7 bits */
#define X520_TXC_VLAN_SHIFT     16
/* third dword */
#define X520_TXC_IPV4           0x00000400
#define X520_TXC_L4T            0x00001800
#define X520_TXC_L4T_UDP        0x00000000
#define X520_TXC_L4T_TCP        0x00000800
#define X520_TXC_L4T_SCTP       0x00001000
/* fourth dword */
#define X520_TXC_L4LEN_SHIFT    8               /* 8 bits */
#define X520_TXC_MSS_SHIFT      16

#endif
