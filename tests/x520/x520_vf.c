/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: PCI front of a virtual function. QEMU's SR-IOV
 * code makes them when their port is realized and shows them to the guest when
 * NumVFs and VF Enable say so; what its registers do is in x520_iov.c.
 */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qemu/module.h"
#include "qemu/range.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_sriov.h"
#include "x520_core.h"
#include "x520_vf.h"

OBJECT_DECLARE_SIMPLE_TYPE(X520VfState, X520_VF)

#define X520_VF_CAP_MSIX        0x70
#define X520_VF_CAP_EXP         0xa0
#define X520_VF_CAP_AER         0x100
#define X520_VF_CAP_ARI         0x150
#define X520_VF_MSIX_PBA        0x2000

struct X520VfState {
    PCIDevice parent_obj;

    MemoryRegion mmio;
    MemoryRegion msix;
    bool enabled;               /* for migration: the guest sees it */
};

/*
 * The port's state is behind these registers, and so is its guard: a
 * descriptor of any queue that points here goes nowhere.
 */
static X520Core *x520_vf_enter(PCIDevice *dev)
{
    PCIDevice *pf = pcie_sriov_get_pf(dev);
    MemReentrancyGuard *guard = &DEVICE(pf)->mem_reentrancy_guard;

    if (guard->engaged_in_io) {
        return NULL;
    }
    guard->engaged_in_io = true;
    return x520_core_of(pf);
}

static void x520_vf_leave(X520Core *core)
{
    DEVICE(core->owner)->mem_reentrancy_guard.engaged_in_io = false;
}

static uint64_t x520_vf_mmio_read(void *opaque, hwaddr addr, unsigned size)
{
    PCIDevice *dev = opaque;
    X520Core *core = x520_vf_enter(dev);
    uint64_t value = 0;

    if (core) {
        value = x520_vf_read(core, pcie_sriov_vf_number(dev), addr);
        x520_vf_leave(core);
    }
    return value;
}

static void x520_vf_mmio_write(void *opaque, hwaddr addr, uint64_t value,
                               unsigned size)
{
    PCIDevice *dev = opaque;
    X520Core *core = x520_vf_enter(dev);

    if (core) {
        x520_vf_write(core, pcie_sriov_vf_number(dev), addr, value);
        x520_vf_leave(core);
    }
}

static const MemoryRegionOps x520_vf_mmio_ops = {
    .read = x520_vf_mmio_read,
    .write = x520_vf_mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .impl = {
        .min_access_size = 4,
        .max_access_size = 4,
    },
};

static void x520_vf_write_config(PCIDevice *dev, uint32_t addr,
                                 uint32_t value, int len)
{
    bool master = dev->config[PCI_COMMAND] & PCI_COMMAND_MASTER;

    pci_default_write_config(dev, addr, value, len);
    pcie_cap_flr_write_config(dev, addr, value, len);
    if (!master && range_covers_byte(addr, len, PCI_COMMAND) &&
        (dev->config[PCI_COMMAND] & PCI_COMMAND_MASTER)) {
        x520_core_kick(x520_core_of(pcie_sriov_get_pf(dev)));
    }
}

static void x520_vf_realize(PCIDevice *dev, Error **errp)
{
    X520VfState *s = X520_VF(dev);

    memory_region_init_io(&s->mmio, OBJECT(dev), &x520_vf_mmio_ops, s,
                          "x520-vf-mmio", X520_VF_BAR_SIZE);
    pci_register_bar(dev, X520_VF_BAR_MMIO, X520_VF_BAR_TYPE, &s->mmio);
    memory_region_init(&s->msix, OBJECT(dev), "x520-vf-msix",
                       X520_VF_BAR_SIZE);
    pci_register_bar(dev, X520_VF_BAR_MSIX, X520_VF_BAR_TYPE, &s->msix);

    if (pcie_endpoint_cap_init(dev, X520_VF_CAP_EXP) < 0) {
        error_setg(errp, "x520-vf: needs a PCI Express bus");
        return;
    }
    pcie_cap_flr_init(dev);
    if (msix_init(dev, X520_VF_VECTORS, &s->msix, X520_VF_BAR_MSIX, 0,
                  &s->msix, X520_VF_BAR_MSIX, X520_VF_MSIX_PBA,
                  X520_VF_CAP_MSIX, errp) < 0) {
        goto no_msix;
    }
    for (unsigned v = 0; v < X520_VF_VECTORS; v++) {
        msix_vector_use(dev, v);
    }
    if (pcie_aer_init(dev, 1, X520_VF_CAP_AER, 0x40, errp) < 0) {
        goto no_aer;
    }
    pcie_ari_init(dev, X520_VF_CAP_ARI);
    return;

no_aer:
    msix_unuse_all_vectors(dev);
    msix_uninit(dev, &s->msix, &s->msix);
no_msix:
    pcie_cap_exit(dev);
}

static void x520_vf_exit(PCIDevice *dev)
{
    X520VfState *s = X520_VF(dev);

    pcie_aer_exit(dev);
    pcie_cap_exit(dev);
    msix_unuse_all_vectors(dev);
    msix_uninit(dev, &s->msix, &s->msix);
}

static bool x520_vf_is_enabled(PCIDevice *dev)
{
    return pcie_sriov_vf_number(dev) <
           pcie_sriov_num_vfs(pcie_sriov_get_pf(dev));
}

static void x520_vf_reset_hold(Object *obj, ResetType type)
{
    PCIDevice *dev = PCI_DEVICE(obj);

    /* the port is not told of a function that is not there, or goes */
    x520_vf_reset(x520_core_of(pcie_sriov_get_pf(dev)),
                  pcie_sriov_vf_number(dev), x520_vf_is_enabled(dev));
}

/* ---- migration ---- */

static int x520_vf_pre_save(void *opaque)
{
    X520VfState *s = opaque;

    s->enabled = x520_vf_is_enabled(&s->parent_obj);
    return 0;
}

/*
 * Functions are loaded before their port, which would enable them only then,
 * and so reset what was loaded.
 */
static int x520_vf_enabled_post_load(void *opaque, int version_id)
{
    X520VfState *s = opaque;

    pci_set_enabled(&s->parent_obj, s->enabled);
    return 0;
}

static const VMStateDescription vmstate_x520_vf_enabled = {
    .name = TYPE_X520_VF "/enabled",
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = x520_vf_enabled_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_BOOL(enabled, X520VfState),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_x520_vf = {
    .name = TYPE_X520_VF,
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = x520_vf_pre_save,
    .fields = (const VMStateField[]) {
        {
            .name = "enabled",
            .size = sizeof(X520VfState),
            .vmsd = &vmstate_x520_vf_enabled,
            .flags = VMS_STRUCT,
        },
        VMSTATE_PCI_DEVICE(parent_obj, X520VfState),
        VMSTATE_MSIX(parent_obj, X520VfState),
        VMSTATE_END_OF_LIST()
    }
};

/* ---- type ---- */

static void x520_vf_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = x520_vf_realize;
    pc->exit = x520_vf_exit;
    pc->config_write = x520_vf_write_config;
    pc->vendor_id = PCI_VENDOR_ID_INTEL;
    pc->device_id = X520_VF_DEVICE_ID;
    pc->subsystem_vendor_id = PCI_VENDOR_ID_INTEL;
    pc->subsystem_id = 0x0003;
    pc->revision = 1;
    pc->class_id = PCI_CLASS_NETWORK_ETHERNET;
    rc->phases.hold = x520_vf_reset_hold;
    dc->desc = "Intel X520-DA2 (82599ES) virtual function";
    dc->vmsd = &vmstate_x520_vf;
    dc->user_creatable = false;
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static const TypeInfo x520_vf_info = {
    .name = TYPE_X520_VF,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(X520VfState),
    .class_init = x520_vf_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { }
    },
};

static void x520_vf_register_types(void)
{
    type_register_static(&x520_vf_info);
}

type_init(x520_vf_register_types)
