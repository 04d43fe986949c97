/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel 82599 10 GbE controller: register offsets and bits that the model
 * uses. Offsets and names are those of the 82599 datasheet, section 8.
 *
 * Some registers can be reached at two addresses (SRRCTL of the first 16
 * queues, RAL/RAH of the first 16 addresses, ...). The macros below give the
 * canonical one, which is where the model keeps the value; x520_core.c folds
 * the other address onto it before anything else looks at it.
 */

#ifndef HW_NET_X520_REGS_H
#define HW_NET_X520_REGS_H

#define X520_NUM_QUEUES         128
#define X520_NUM_VECTORS        64
#define X520_NUM_STAT_SETS      16

/* General */
#define X520_CTRL               0x00000
#define X520_CTRL_ALIAS         0x00004
#define X520_STATUS             0x00008
#define X520_CTRL_EXT           0x00018
#define X520_ESDP               0x00020
#define X520_I2CCTL             0x00028
#define X520_FRTIMER            0x00048
#define X520_TCPTIMER           0x0004C
#define X520_LEDCTL             0x00200

#define X520_CTRL_GIO_DIS       0x00000004
#define X520_CTRL_LRST          0x00000008
#define X520_CTRL_RST           0x04000000
#define X520_STATUS_LAN_ID1     0x00000004
#define X520_STATUS_LINKUP      0x00000080
#define X520_STATUS_GIO         0x00080000
#define X520_CTRL_EXT_PFRSTD    0x00004000
#define X520_CTRL_EXT_DRV_LOAD  0x10000000
#define X520_ESDP_SDP2          0x00000004

/* EEPROM and flash */
#define X520_EEC                0x10010
#define X520_EERD               0x10014
#define X520_EEWR               0x10018
#define X520_FLA                0x1001C
#define X520_EEMNGCTL           0x10110
#define X520_EEMNGDATA          0x10114
#define X520_FLOP               0x1013C
#define X520_GRC                0x10200
#define X520_SWSM               0x10140
#define X520_FWSM               0x10148
#define X520_FACTPS             0x10150
#define X520_SW_FW_SYNC         0x10160

#define X520_EEC_SK             0x00000001
#define X520_EEC_CS             0x00000002
#define X520_EEC_DI             0x00000004
#define X520_EEC_DO             0x00000008
#define X520_EEC_FWE_DIS        0x00000010
#define X520_EEC_REQ            0x00000040
#define X520_EEC_GNT            0x00000080
#define X520_EEC_PRES           0x00000100
#define X520_EEC_ARD            0x00000200
#define X520_EEC_ADDR_SIZE      0x00000400
#define X520_EEC_SIZE_SHIFT     11
#define X520_EERD_START         0x00000001
#define X520_EERD_DONE          0x00000002
#define X520_EERD_ADDR_SHIFT    2
#define X520_EERD_DATA_SHIFT    16
#define X520_SWSM_SMBI          0x00000001
#define X520_SWSM_SWESMBI       0x00000002

/* PCIe */
#define X520_GCR                0x11000
#define X520_GCR_EXT            0x11050
#define X520_PBACL              0x11068
#define X520_DCA_ID             0x11070
#define X520_DCA_CTRL           0x11074
#define X520_PICAUSE            0x110B0
#define X520_PIENA              0x110B8
#define X520_BARCTRL            0x110F4
#define X520_MREVID             0x11064
#define X520_CIAA               0x11088
#define X520_CIAD               0x1108C

/* Interrupts */
#define X520_EICR               0x00800
#define X520_EICS               0x00808
#define X520_EIAC               0x00810
#define X520_EIMS               0x00880
#define X520_EIMC               0x00888
#define X520_EIAM               0x00890
#define X520_EITRSEL            0x00894
#define X520_GPIE               0x00898
#define X520_EICS_EX(n)         (0x00A90 + 4 * (n))     /* n = 0, 1 */
#define X520_EIMS_EX(n)         (0x00AA0 + 4 * (n))
#define X520_EIMC_EX(n)         (0x00AB0 + 4 * (n))
#define X520_EIAM_EX(n)         (0x00AD0 + 4 * (n))
#define X520_EITR(n)            ((n) < 24 ? 0x00820 + 4 * (n) : \
                                 0x12300 + 4 * ((n) - 24))
#define X520_IVAR(n)            (0x00900 + 4 * (n))     /* n = 0..63 */
#define X520_IVAR_MISC          0x00A00

#define X520_EICR_RTXQ          0x0000FFFF
#define X520_EICR_FLOW_DIR      0x00010000
#define X520_EICR_RX_MISS       0x00020000
#define X520_EICR_PCI           0x00040000
#define X520_EICR_MAILBOX       0x00080000
#define X520_EICR_LSC           0x00100000
#define X520_EICR_TCP_TIMER     0x40000000
#define X520_EICR_OTHER         0x80000000
#define X520_GPIE_MSIX          0x00000010
#define X520_GPIE_OCD           0x00000020
#define X520_GPIE_EIMEN         0x00000040
#define X520_GPIE_RSC_DELAY_SHIFT 11             /* 3 bits */
#define X520_GPIE_EIAME         0x40000000
#define X520_GPIE_PBA           0x80000000
#define X520_EITR_INTERVAL      0x00000FF8      /* bits 11:3, 2 us at 10G */
#define X520_EITR_LLI_MOD       0x00008000
#define X520_EITR_CNT_WDIS      0x80000000
#define X520_IVAR_VALID         0x80

/* Receive: per-queue registers, q = 0..127 */
#define X520_RXQ_BASE(q)        ((q) < 64 ? 0x01000 + 0x40 * (q) : \
                                 0x0D000 + 0x40 * ((q) - 64))
#define X520_RDBAL(q)           (X520_RXQ_BASE(q) + 0x00)
#define X520_RDBAH(q)           (X520_RXQ_BASE(q) + 0x04)
#define X520_RDLEN(q)           (X520_RXQ_BASE(q) + 0x08)
#define X520_DCA_RXCTRL(q)      (X520_RXQ_BASE(q) + 0x0C)
#define X520_RDH(q)             (X520_RXQ_BASE(q) + 0x10)
#define X520_SRRCTL(q)          (X520_RXQ_BASE(q) + 0x14)
#define X520_RDT(q)             (X520_RXQ_BASE(q) + 0x18)
#define X520_RXDCTL(q)          (X520_RXQ_BASE(q) + 0x28)
#define X520_RSCCTL(q)          (X520_RXQ_BASE(q) + 0x2C)

#define X520_RXDCTL_ENABLE      0x02000000
#define X520_RXDCTL_SWFLSH      0x04000000
#define X520_RXDCTL_VME         0x40000000
#define X520_SRRCTL_BSIZEPKT    0x0000001F      /* 1 KiB units */
#define X520_SRRCTL_BSIZEHDR    0x00003F00      /* 64-byte units, bits 13:8 */
#define X520_SRRCTL_DESCTYPE    0x0E000000
#define X520_SRRCTL_DESC_LEGACY 0x00000000
#define X520_SRRCTL_DESC_ADV1   0x02000000      /* advanced, one buffer */
#define X520_SRRCTL_DESC_HSPLIT 0x04000000
#define X520_SRRCTL_DESC_HSPLIT_ALWAYS 0x0A000000
#define X520_SRRCTL_DROP_EN     0x10000000
#define X520_RSCCTL_RSCEN       0x00000001
#define X520_RSCCTL_MAXDESC     0x0000000C

/* Receive: global */
#define X520_RDRXCTL            0x02F00
#define X520_RXCTRL             0x03000
#define X520_RTRUP2TC           0x03020
#define X520_RSCDBU             0x03028
#define X520_FCTTV(n)           (0x03200 + 4 * (n))
#define X520_FCRTL(n)           (0x03220 + 4 * (n))
#define X520_FCRTH(n)           (0x03260 + 4 * (n))
#define X520_FCRTV              0x032A0
#define X520_RXPBSIZE(n)        (0x03C00 + 4 * (n))
#define X520_FCCFG              0x03D00
#define X520_DROPEN             0x03D04
#define X520_RXCSUM             0x05000
#define X520_RFCTL              0x05008
#define X520_EXVET              0x05078
#define X520_FCTRL              0x05080
#define X520_VLNCTRL            0x05088
#define X520_MCSTCTRL           0x05090
#define X520_RFVAL              0x050A4
#define X520_VT_CTL             0x051B0
#define X520_MTA(n)             (0x05200 + 4 * (n))     /* 128 */
#define X520_ETQF(n)            (0x05128 + 4 * (n))     /* 8 */
#define X520_ETQS(n)            (0x0EC00 + 4 * (n))     /* 8 */
#define X520_MRQC               0x0EC80
#define X520_RSSRK(n)           (0x0EB80 + 4 * (n))     /* 10 */
#define X520_RETA(n)            (0x0EB00 + 4 * (n))     /* 32 */
#define X520_PSRTYPE(n)         (0x0EA00 + 4 * (n))     /* 64 */
#define X520_VFTA(n)            (0x0A000 + 4 * (n))     /* 128 */
#define X520_RAL(n)             (0x0A200 + 8 * (n))     /* 128 */
#define X520_RAH(n)             (0x0A204 + 8 * (n))
#define X520_MPSAR_LO(n)        (0x0A600 + 8 * (n))     /* 128 */
#define X520_MPSAR_HI(n)        (0x0A604 + 8 * (n))
#define X520_PFVLVF(n)          (0x0F100 + 4 * (n))     /* 64 */
#define X520_PFVLVFB(n)         (0x0F200 + 4 * (n))     /* 128 */
#define X520_SAQF(n)            (0x0E000 + 4 * (n))     /* 128 each */
#define X520_DAQF(n)            (0x0E200 + 4 * (n))
#define X520_SDPQF(n)           (0x0E400 + 4 * (n))
#define X520_FTQF(n)            (0x0E600 + 4 * (n))
#define X520_L34TIMIR(n)        (0x0E800 + 4 * (n))
#define X520_SYNQF              0x0EC30

#define X520_RSCDBU_RSCACKDIS   0x00000080
#define X520_RDRXCTL_CRCSTRIP   0x00000002
#define X520_RDRXCTL_DMAIDONE   0x00000008
#define X520_RDRXCTL_RSCFRSTSZ  0x003E0000
#define X520_RDRXCTL_RSCACKC    0x02000000
#define X520_RXCTRL_RXEN        0x00000001
#define X520_RXCSUM_IPPCSE      0x00001000
#define X520_RXCSUM_PCSD        0x00002000
#define X520_RFCTL_RSC_DIS      0x00000020
#define X520_FCTRL_SBP          0x00000002
#define X520_FCTRL_MPE          0x00000100
#define X520_FCTRL_UPE          0x00000200
#define X520_FCTRL_BAM          0x00000400
#define X520_VLNCTRL_VET        0x0000FFFF
#define X520_VLNCTRL_CFI        0x10000000
#define X520_VLNCTRL_CFIEN      0x20000000
#define X520_VLNCTRL_VFE        0x40000000
#define X520_MCSTCTRL_MO        0x00000003
#define X520_MCSTCTRL_MFE       0x00000004
#define X520_RAH_AV             0x80000000
#define X520_MRQC_MRQE          0x0000000F
#define X520_MRQC_RSS           0x00000001
#define X520_MRQC_HASH_IPV4_TCP 0x00010000
#define X520_MRQC_HASH_IPV4     0x00020000
#define X520_MRQC_HASH_IPV6     0x00100000
#define X520_MRQC_HASH_IPV6_TCP 0x00200000
#define X520_MRQC_HASH_IPV4_UDP 0x00400000
#define X520_MRQC_HASH_IPV6_UDP 0x00800000
#define X520_VT_CTL_ENABLE      0x00000001
#define X520_VT_CTL_DIS_DEFPL   0x20000000
#define X520_VT_CTL_REPLEN      0x40000000
#define X520_VT_CTL_POOL_SHIFT  7
#define X520_ETQF_1588          0x40000000
#define X520_ETQF_EN            0x80000000
#define X520_ETQS_QUEUE_EN      0x80000000

/* Virtual functions and pools */
#define X520_MBVFICR(n)         (0x00710 + 4 * (n))     /* PFMBICR, 4 */
#define X520_MBVFIMR(n)         (0x00720 + 4 * (n))     /* PFMBIMR, 4 */
#define X520_VFLRE0             0x00600
#define X520_VFLRE1             0x001C0
#define X520_VFLREC(n)          (0x00700 + 4 * (n))     /* 2 */
#define X520_PFMAILBOX(n)       (0x04B00 + 4 * (n))     /* 64 */
#define X520_PFMBMEM(n)         (0x13000 + 64 * (n))    /* 64, 16 words each */
#define X520_VFRE(n)            (0x051E0 + 4 * (n))     /* 2 */
#define X520_VFTE(n)            (0x08110 + 4 * (n))     /* 2 */
#define X520_PFVMTXSW(n)        (0x05180 + 4 * (n))     /* 2 */
#define X520_QDE                0x02F04
#define X520_VMOLR(n)           (0x0F000 + 4 * (n))     /* 64 */
#define X520_PFUTA(n)           (0x0F400 + 4 * (n))     /* 128 */
#define X520_VMVIR(n)           (0x08000 + 4 * (n))     /* 64 */
#define X520_PFVFSPOOF(n)       (0x08200 + 4 * (n))     /* 8 */
#define X520_PFDTXGSWC          0x08220
#define X520_VMECM(n)           (0x08790 + 4 * (n))     /* 2 */
#define X520_RTTBCNRC           0x04984
#define X520_PVFGPRC(n)         (0x0101C + 0x40 * (n))  /* 64 each */
#define X520_PVFGORC_LSB(n)     (0x01020 + 0x40 * (n))
#define X520_PVFGORC_MSB(n)     (0x0D020 + 0x40 * (n))
#define X520_PVFMPRC(n)         (0x0D01C + 0x40 * (n))
#define X520_PVFGPTC(n)         (0x08300 + 4 * (n))
#define X520_PVFGOTC_LSB(n)     (0x08400 + 8 * (n))
#define X520_PVFGOTC_MSB(n)     (0x08404 + 8 * (n))

#define X520_GCR_EXT_VT_MODE    0x00000003      /* 16, 32 or 64 VFs */
#define X520_PFMAILBOX_STS      0x00000001
#define X520_PFMAILBOX_ACK      0x00000002
#define X520_PFMAILBOX_VFU      0x00000004
#define X520_PFMAILBOX_PFU      0x00000008
#define X520_PFMAILBOX_RVFU     0x00000010
#define X520_QDE_ENABLE         0x00000001
#define X520_QDE_HIDE_VLAN      0x00000002
#define X520_QDE_IDX_SHIFT      8
#define X520_QDE_WRITE          0x00010000
#define X520_QDE_READ           0x00020000
#define X520_VMOLR_AUPE         0x01000000
#define X520_VMOLR_ROMPE        0x02000000
#define X520_VMOLR_ROPE         0x04000000
#define X520_VMOLR_BAM          0x08000000
#define X520_VMOLR_MPE          0x10000000
#define X520_PFVLVF_VIEN        0x80000000
#define X520_VMVIR_ACTION       0xC0000000
#define X520_VMVIR_DEFAULT      0x40000000      /* always this tag */
#define X520_VMVIR_NEVER        0x80000000      /* no tag at all */
#define X520_PFVFSPOOF_MAC(n)   (1u << ((n) & 7))
#define X520_PFVFSPOOF_VLAN(n)  (0x100u << ((n) & 7))
#define X520_PFDTXGSWC_LBE      0x00000001
#define X520_MTQC_VT_ENA        0x00000002
#define X520_MTQC_LAYOUT_SHIFT  2               /* 64, 32 or 16 pools */
#define X520_RTTBCNRC_RS_ENA    0x80000000
#define X520_RTTBCNRC_FACTOR    0x0FFFFFFF      /* fixed point, 14 bits */
#define X520_RTTBCNRC_INT_SHIFT 14

/* A virtual function's own registers, in its BAR 0 */
#define X520_VFCTRL             0x00000
#define X520_VFSTATUS           0x00008
#define X520_VFLINKS            0x00010
#define X520_VFFRTIMER          0x00048
#define X520_VTEICR             0x00100
#define X520_VTEICS             0x00104
#define X520_VTEIMS             0x00108
#define X520_VTEIMC             0x0010C
#define X520_VTEIAC             0x00110
#define X520_VTEIAM             0x00114
#define X520_VTIVAR(n)          (0x00120 + 4 * (n))     /* 4 */
#define X520_VTIVAR_MISC        0x00140
#define X520_VTRSCINT(n)        (0x00180 + 4 * (n))
#define X520_VFMBMEM            0x00200
#define X520_VFMAILBOX          0x002FC
#define X520_VFPSRTYPE          0x00300
#define X520_VTEITR(n)          (0x00820 + 4 * (n))     /* 3 */
#define X520_VFRXQ              0x01000
#define X520_VFTXQ              0x02000
#define X520_VFGPRC             0x0101C
#define X520_VFGORC_LSB         0x01020
#define X520_VFGORC_MSB         0x01024
#define X520_VFMPRC             0x01034
#define X520_VFGPTC             0x0201C
#define X520_VFGOTC_LSB         0x02020
#define X520_VFGOTC_MSB         0x02024

#define X520_VFMAILBOX_REQ      0x00000001
#define X520_VFMAILBOX_ACK      0x00000002
#define X520_VFMAILBOX_VFU      0x00000004
#define X520_VFMAILBOX_PFU      0x00000008
#define X520_VFMAILBOX_PFSTS    0x00000010
#define X520_VFMAILBOX_PFACK    0x00000020
#define X520_VFMAILBOX_RSTI     0x00000040
#define X520_VFMAILBOX_RSTD     0x00000080

/* Flow Director */
#define X520_FDIRCTRL           0x0EE00
#define X520_FDIRSIPV6(n)       (0x0EE0C + 4 * (n))
#define X520_FDIRIPSA           0x0EE18
#define X520_FDIRIPDA           0x0EE1C
#define X520_FDIRPORT           0x0EE20
#define X520_FDIRVLAN           0x0EE24
#define X520_FDIRHASH           0x0EE28
#define X520_FDIRCMD            0x0EE2C
#define X520_FDIRFREE           0x0EE38
#define X520_FDIRDIP4M          0x0EE3C
#define X520_FDIRSIP4M          0x0EE40
#define X520_FDIRTCPM           0x0EE44
#define X520_FDIRUDPM           0x0EE48
#define X520_FDIRLEN            0x0EE4C
#define X520_FDIRUSTAT          0x0EE50
#define X520_FDIRFSTAT          0x0EE54
#define X520_FDIRMATCH          0x0EE58
#define X520_FDIRMISS           0x0EE5C
#define X520_FDIRHKEY           0x0EE68
#define X520_FDIRSKEY           0x0EE6C
#define X520_FDIRM              0x0EE70
#define X520_FDIRIP6M           0x0EE74

#define X520_FDIRCTRL_PBALLOC   0x00000003
#define X520_FDIRCTRL_INIT_DONE 0x00000008
#define X520_FDIRCTRL_PERFECT   0x00000010
#define X520_FDIRCTRL_REPORT    0x000000A0      /* on a match, or always */
#define X520_FDIRCTRL_FLEX_SHIFT 16             /* in words, 5 bits */
#define X520_FDIRCTRL_FULL_SHIFT 28             /* times 16 filters */
#define X520_FDIRM_VLANID       0x00000001
#define X520_FDIRM_VLANP        0x00000002
#define X520_FDIRM_POOL         0x00000004
#define X520_FDIRM_L4P          0x00000008
#define X520_FDIRM_FLEX         0x00000010
#define X520_FDIRCMD_CMD        0x00000003
#define X520_FDIRCMD_ADD        0x00000001
#define X520_FDIRCMD_REMOVE     0x00000002
#define X520_FDIRCMD_QUERY      0x00000003
#define X520_FDIRCMD_VALID      0x00000004
#define X520_FDIRCMD_UPDATE     0x00000008
#define X520_FDIRCMD_FLOW_SHIFT 5
#define X520_FDIRCMD_FLOW       0x000000E0      /* L4 and IP type */
#define X520_FDIRCMD_UDP        0x00000020
#define X520_FDIRCMD_TCP        0x00000040      /* both: SCTP */
#define X520_FDIRCMD_IPV6       0x00000080
#define X520_FDIRCMD_CLEARHT    0x00000100
#define X520_FDIRCMD_DROP       0x00000200
#define X520_FDIRCMD_QUEUE_EN   0x00008000
#define X520_FDIRCMD_QUEUE_SHIFT 16
#define X520_FDIRCMD_POOL_SHIFT 24

/* Transmit: per-queue registers, q = 0..127 */
#define X520_TXQ_BASE(q)        (0x06000 + 0x40 * (q))
#define X520_TDBAL(q)           (X520_TXQ_BASE(q) + 0x00)
#define X520_TDBAH(q)           (X520_TXQ_BASE(q) + 0x04)
#define X520_TDLEN(q)           (X520_TXQ_BASE(q) + 0x08)
#define X520_DCA_TXCTRL(q)      (X520_TXQ_BASE(q) + 0x0C)
#define X520_TDH(q)             (X520_TXQ_BASE(q) + 0x10)
#define X520_TDT(q)             (X520_TXQ_BASE(q) + 0x18)
#define X520_TXDCTL(q)          (X520_TXQ_BASE(q) + 0x28)
#define X520_TDWBAL(q)          (X520_TXQ_BASE(q) + 0x38)
#define X520_TDWBAH(q)          (X520_TXQ_BASE(q) + 0x3C)

#define X520_TXDCTL_WTHRESH     0x007F0000
#define X520_TXDCTL_ENABLE      0x02000000
#define X520_TXDCTL_SWFLSH      0x04000000
#define X520_TDWBAL_EN          0x00000001

/* Transmit: global */
#define X520_RTTDCS             0x04900
#define X520_RTTDQSEL           0x04904
#define X520_DMATXCTL           0x04A80
#define X520_DTXTCPFLGL         0x04A88
#define X520_DTXTCPFLGH         0x04A8C
#define X520_TXPBTHRESH(n)      (0x04950 + 4 * (n))
#define X520_DTXMXSZRQ          0x08100
#define X520_MTQC               0x08120
#define X520_SECTXCTRL          0x08800
#define X520_SECTXSTAT          0x08804
#define X520_SECTXBUFFAF        0x08808
#define X520_SECTXMINIFG        0x08810
#define X520_SECRXCTRL          0x08D00
#define X520_SECRXSTAT          0x08D04
#define X520_TXPBSIZE(n)        (0x0CC00 + 4 * (n))
#define X520_RTTUP2TC           0x0C800
#define X520_RTTPCS             0x0CD00
#define X520_TFCS               0x0CE00

#define X520_DMATXCTL_TE        0x00000001
#define X520_DMATXCTL_GDV       0x00000008
#define X520_DMATXCTL_VT_SHIFT  16
#define X520_RTTDCS_ARBDIS      0x00000040
#define X520_SECRXCTRL_RX_DIS   0x00000002
#define X520_SECTXCTRL_TX_DIS   0x00000002

/* MAC */
#define X520_PCS1GLCTL          0x04208
#define X520_PCS1GLSTA          0x0420C
#define X520_PCS1GANA           0x04218
#define X520_PCS1GANLP          0x0421C
#define X520_HLREG0             0x04240
#define X520_HLREG1             0x04244
#define X520_PAP                0x04248
#define X520_MACA               0x0424C
#define X520_MSCA               0x0425C
#define X520_MSRWD              0x04260
#define X520_MLADD              0x04264
#define X520_MAXFRS             0x04268
#define X520_PCSS1              0x04288
#define X520_PCSS2              0x0428C
#define X520_XPCSS              0x04290
#define X520_MFLCN              0x04294
#define X520_SERDESC            0x04298
#define X520_MACS               0x0429C
#define X520_AUTOC              0x042A0
#define X520_LINKS              0x042A4
#define X520_AUTOC2             0x042A8
#define X520_ANLP1              0x042B0
#define X520_ANLP2              0x042B4
#define X520_MMNGC              0x042D0
#define X520_LINKS2             0x04324
#define X520_MACC               0x04330
#define X520_CORECTL            0x14F00
#define X520_SMADARCTL          0x14F10

#define X520_HLREG0_TXCRCEN     0x00000001
#define X520_HLREG0_RXCRCSTRP   0x00000002
#define X520_HLREG0_JUMBOEN     0x00000004
#define X520_HLREG0_TXPADEN     0x00000400
#define X520_HLREG0_LPBK        0x00008000
#define X520_MAXFRS_MFS_SHIFT   16
#define X520_MFLCN_RPFCE        0x00000004
#define X520_MFLCN_RFCE         0x00000008
#define X520_AUTOC_FLU          0x00000001
#define X520_AUTOC_AN_RESTART   0x00001000
#define X520_AUTOC_LMS_SHIFT    13
#define X520_AUTOC_LMS_MASK     0x0000E000
#define X520_AUTOC_LMS_1G       0x00000000
#define X520_AUTOC_LMS_10G_SER  0x00006000
#define X520_LINKS_UP           0x40000000
#define X520_LINKS_SPEED_10G    0x30000000
#define X520_LINKS_SPEED_1G     0x20000000

/* Statistics; all clear on read */
#define X520_RXDGPC             0x02F50
#define X520_RXDGBCL            0x02F54
#define X520_RXDGBCH            0x02F58
#define X520_RXNFGPC            0x041B0
#define X520_RXNFGBCL           0x041B4
#define X520_RXNFGBCH           0x041B8
#define X520_LXONTXC            0x03F60
#define X520_LXOFFTXC           0x03F68
#define X520_MPC(n)             (0x03FA0 + 4 * (n))
#define X520_CRCERRS            0x04000
#define X520_ILLERRC            0x04004
#define X520_ERRBC              0x04008
#define X520_MSPDC              0x04010
#define X520_MLFC               0x04034
#define X520_MRFC               0x04038
#define X520_RLEC               0x04040
#define X520_PRC64              0x0405C
#define X520_PRC127             0x04060
#define X520_PRC255             0x04064
#define X520_PRC511             0x04068
#define X520_PRC1023            0x0406C
#define X520_PRC1522            0x04070
#define X520_GPRC               0x04074
#define X520_BPRC               0x04078
#define X520_MPRC               0x0407C
#define X520_GPTC               0x04080
#define X520_GORCL              0x04088
#define X520_GORCH              0x0408C
#define X520_GOTCL              0x04090
#define X520_GOTCH              0x04094
#define X520_RUC                0x040A4
#define X520_RFC                0x040A8
#define X520_ROC                0x040AC
#define X520_RJC                0x040B0
#define X520_MNGPRC             0x040B4
#define X520_MNGPDC             0x040B8
#define X520_TORL               0x040C0
#define X520_TORH               0x040C4
#define X520_TPR                0x040D0
#define X520_TPT                0x040D4
#define X520_PTC64              0x040D8
#define X520_PTC127             0x040DC
#define X520_PTC255             0x040E0
#define X520_PTC511             0x040E4
#define X520_PTC1023            0x040E8
#define X520_PTC1522            0x040EC
#define X520_MPTC               0x040F0
#define X520_BPTC               0x040F4
#define X520_XEC                0x04120
#define X520_PXONRXCNT(n)       (0x04140 + 4 * (n))
#define X520_PXOFFRXCNT(n)      (0x04160 + 4 * (n))
#define X520_LXONRXCNT          0x041A4
#define X520_LXOFFRXCNT         0x041A8
#define X520_FCCRC              0x05118
#define X520_SSVPC              0x08780
#define X520_TXDGPC             0x087A0
#define X520_TXDGBCL            0x087A4
#define X520_TXDGBCH            0x087A8
#define X520_MNGPTC             0x0CF90
#define X520_RQSMR(n)           (0x02300 + 4 * (n))     /* 32 */
#define X520_TQSM(n)            (0x08600 + 4 * (n))     /* 32 */
#define X520_QPRC(s)            (0x01030 + 0x40 * (s))  /* 16 */
#define X520_QBRC_L(s)          (0x01034 + 0x40 * (s))
#define X520_QBRC_H(s)          (0x01038 + 0x40 * (s))
#define X520_QPRDC(s)           (0x01430 + 0x40 * (s))
#define X520_QPTC(s)            (0x08680 + 4 * (s))
#define X520_QBTC_L(s)          (0x08700 + 8 * (s))
#define X520_QBTC_H(s)          (0x08704 + 8 * (s))

/* Time stamps */
#define X520_TSYNCRXCTL         0x05188
#define X520_RXMTRL             0x05120
#define X520_RXSTMPL            0x051E8
#define X520_RXSTMPH            0x051A4
#define X520_TSYNCTXCTL         0x08C00
#define X520_TXSTMPL            0x08C04
#define X520_TXSTMPH            0x08C08
#define X520_SYSTIML            0x08C0C
#define X520_SYSTIMH            0x08C10
#define X520_TIMINCA            0x08C14

#define X520_TSYNC_VALID        0x00000001
#define X520_TSYNC_ENABLED      0x00000010
#define X520_TSYNCRX_TYPE_SHIFT 1
#define X520_TSYNCRX_L2_V2      0
#define X520_TSYNCRX_L4_V1      1
#define X520_TSYNCRX_L2_L4_V2   2
#define X520_TSYNCRX_ALL        4
#define X520_TSYNCRX_EVENT_V2   5

#endif
