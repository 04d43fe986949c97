/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: what the port's SR-IOV capability says of its
 * virtual functions, and what these then are.
 */

#ifndef HW_NET_X520_VF_H
#define HW_NET_X520_VF_H

#include "qemu/units.h"
#include "hw/pci/pci.h"

#define TYPE_X520_VF            "x520-vf"

#define X520_VF_DEVICE_ID       0x10ed
#define X520_VF_OFFSET          128     /* first VF's number less the port's */
#define X520_VF_STRIDE          2
#define X520_VF_BAR_MMIO        0
#define X520_VF_BAR_MSIX        3
#define X520_VF_BAR_SIZE        (16 * KiB)
#define X520_VF_BAR_TYPE        (PCI_BASE_ADDRESS_MEM_TYPE_64 | \
                                 PCI_BASE_ADDRESS_MEM_PREFETCH)

#endif
