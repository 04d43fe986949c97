/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599ES) model: PCI front of one port.
 *
 * A dual-port card is two of these as functions 0 and 1 of one slot:
 *   -device x520,netdev=n0,multifunction=on,addr=4.0
 *   -device x520,netdev=n1,addr=4.1
 */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "qemu/module.h"
#include "qemu/range.h"
#include "qapi/error.h"
#include "net/eth.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_sriov.h"
#include "hw/qdev-properties.h"
#include "system/system.h"
#include "x520_core.h"
#include "x520_vf.h"
#include "trace.h"

#define TYPE_X520 "x520"
OBJECT_DECLARE_SIMPLE_TYPE(X520State, X520)

#define X520_BAR_MMIO           0
#define X520_BAR_IO             2
#define X520_BAR_MSIX           4
#define X520_IO_SIZE            32
#define X520_MSIX_SIZE          (16 * KiB)
#define X520_MSIX_PBA           0x2000

/* Where the 82599 has its capabilities; drivers read some by address. */
#define X520_CAP_PM             0x40
#define X520_CAP_MSI            0x50
#define X520_CAP_MSIX           0x70
#define X520_CAP_EXP            0xa0
#define X520_CAP_AER            0x100
#define X520_CAP_SERIAL         0x140
#define X520_CAP_ARI            0x150
#define X520_CAP_SRIOV          0x160

#define X520_DEVICE_ID          0x10fb
#define X520_SUBSYSTEM_ID       0x0003
#define X520_VFS_AUTO           UINT32_MAX      /* as many as there is room */

struct X520State {
    PCIDevice parent_obj;

    NICConf conf;
    char *erratum;
    char *sfp;
    char *eeprom;
    bool has_msi;
    bool has_msix;
    uint32_t vfs;
    MemoryRegion mmio;
    MemoryRegion io;
    MemoryRegion msix;
    uint32_t ioaddr;
    X520Core core;
};

/* ---- BARs ---- */

static uint64_t x520_mmio_read(void *opaque, hwaddr addr, unsigned size)
{
    X520State *s = opaque;

    return x520_core_read(&s->core, addr, size);
}

static void x520_mmio_write(void *opaque, hwaddr addr, uint64_t value,
                            unsigned size)
{
    X520State *s = opaque;

    x520_core_write(&s->core, addr, value, size);
}

static const MemoryRegionOps x520_mmio_ops = {
    .read = x520_mmio_read,
    .write = x520_mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .impl = {
        .min_access_size = 4,
        .max_access_size = 4,
    },
};

/* IOADDR at 0 selects a register, IODATA at 4 reads or writes it. */
static uint64_t x520_io_read(void *opaque, hwaddr addr, unsigned size)
{
    X520State *s = opaque;

    switch (addr) {
    case 0:
        return s->ioaddr;
    case 4:
        return x520_core_read(&s->core, s->ioaddr, 4);
    default:
        return 0;
    }
}

static void x520_io_write(void *opaque, hwaddr addr, uint64_t value,
                          unsigned size)
{
    X520State *s = opaque;

    switch (addr) {
    case 0:
        s->ioaddr = value;
        break;
    case 4:
        x520_core_write(&s->core, s->ioaddr, value, 4);
        break;
    }
}

static const MemoryRegionOps x520_io_ops = {
    .read = x520_io_read,
    .write = x520_io_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .impl = {
        .min_access_size = 4,
        .max_access_size = 4,
    },
};

static uint32_t x520_read_config(PCIDevice *dev, uint32_t addr, int len)
{
    if (X520(dev)->core.removed) {
        return 0xffffffff >> (32 - 8 * len);
    }
    return pci_default_read_config(dev, addr, len);
}

static void x520_write_config(PCIDevice *dev, uint32_t addr, uint32_t value,
                              int len)
{
    X520State *s = X520(dev);
    bool master = dev->config[PCI_COMMAND] & PCI_COMMAND_MASTER;

    if (s->core.removed) {
        return;
    }
    pci_default_write_config(dev, addr, value, len);
    pcie_sriov_config_write(dev, addr, value, len);
    pcie_cap_flr_write_config(dev, addr, value, len);
    if (!master && range_covers_byte(addr, len, PCI_COMMAND) &&
        (dev->config[PCI_COMMAND] & PCI_COMMAND_MASTER)) {
        x520_core_kick(&s->core);
    }
}

X520Core *x520_core_of(PCIDevice *pf)
{
    return &X520(pf)->core;
}

/* ---- network backend ---- */

static void x520_set_link_status(NetClientState *nc)
{
    X520Core *core = qemu_get_nic_opaque(nc);

    x520_link_set(core);
}

static NetClientInfo x520_net_info = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .can_receive = x520_can_receive,
    .receive = x520_receive,
    .receive_iov = x520_receive_iov,
    .link_status_changed = x520_set_link_status,
};

/* ---- realize ---- */

/* Which of @choices a property says; -1 for none of them. */
static int x520_choice(const char *name, const char *value, const char *def,
                       const char *const *choices, Error **errp)
{
    g_autofree char *all = g_strjoinv(", ", (char **)choices);

    for (int i = 0; choices[i]; i++) {
        if (!strcmp(value ? value : def, choices[i])) {
            return i;
        }
    }
    error_setg(errp, "x520: %s=%s is none of %s", name, value, all);
    return -1;
}

static bool x520_parse_properties(X520State *s, Error **errp)
{
    static const char *const errata[] = {
        [X520_ERRATUM_NEVER] = "never",
        [X520_ERRATUM_SOMETIMES] = "sometimes",
        [X520_ERRATUM_ALWAYS] = "always",
        NULL
    };
    static const char *const modules[] = {
        [X520_SFP_DA] = "da",
        [X520_SFP_SR] = "sr",
        [X520_SFP_OTHER] = "other",
        [X520_SFP_NONE] = "none",
        NULL
    };
    static const char *const images[] = { "good", "bad", NULL };
    const X520Faults *f = &s->core.faults;
    const uint32_t rates[] = {
        s->core.corrupt_permille, f->drop, f->duplicate, f->reorder, f->delay,
        f->desc, f->irq_lost, f->irq_spurious,
    };
    int erratum, sfp, eeprom;

    erratum = x520_choice("erratum", s->erratum, "always", errata, errp);
    if (erratum < 0) {
        return false;
    }
    sfp = x520_choice("sfp", s->sfp, "da", modules, errp);
    if (sfp < 0) {
        return false;
    }
    eeprom = x520_choice("eeprom", s->eeprom, "good", images, errp);
    if (eeprom < 0) {
        return false;
    }
    s->core.erratum = erratum;
    s->core.sfp = sfp;
    s->core.eeprom_bad = eeprom;
    for (unsigned i = 0; i < ARRAY_SIZE(rates); i++) {
        if (rates[i] > 1000) {
            error_setg(errp, "x520: a rate of %u per mille is above 1000",
                       rates[i]);
            return false;
        }
    }
    if (s->vfs == X520_VFS_AUTO) {
        s->vfs = PCI_SLOT(PCI_DEVICE(s)->devfn) ? 0 : X520_NUM_POOLS;
    }
    if (s->vfs > X520_NUM_POOLS) {
        error_setg(errp, "x520: vfs=%u is above %u", s->vfs, X520_NUM_POOLS);
        return false;
    }
    if (PCI_FUNC(PCI_DEVICE(s)->devfn) > 1) {
        error_setg(errp, "x520: the card has two functions, 0 and 1");
        return false;
    }
    return true;
}

static int x520_add_pm(PCIDevice *dev, Error **errp)
{
    int pos = pci_pm_init(dev, X520_CAP_PM, errp);

    if (pos < 0) {
        return pos;
    }
    pci_set_word(dev->config + pos + PCI_PM_PMC,
                 PCI_PM_CAP_VER_1_1 | PCI_PM_CAP_DSI);
    pci_set_word(dev->wmask + pos + PCI_PM_CTRL,
                 PCI_PM_CTRL_STATE_MASK | PCI_PM_CTRL_PME_ENABLE |
                 PCI_PM_CTRL_DATA_SEL_MASK);
    pci_set_word(dev->w1cmask + pos + PCI_PM_CTRL, PCI_PM_CTRL_PME_STATUS);
    return pos;
}

static bool x520_add_capabilities(X520State *s, Error **errp)
{
    PCIDevice *dev = PCI_DEVICE(s);
    const uint8_t *mac = s->core.perm_mac;
    unsigned v;

    if (pcie_endpoint_cap_init(dev, X520_CAP_EXP) < 0) {
        error_setg(errp, "x520: needs a PCI Express bus (-machine q35)");
        return false;
    }
    pcie_cap_fill_link_ep_usp(dev, QEMU_PCI_EXP_LNK_X8,
                              QEMU_PCI_EXP_LNK_5GT);
    if (s->has_msix) {
        if (msix_init(dev, X520_NUM_VECTORS, &s->msix, X520_BAR_MSIX, 0,
                      &s->msix, X520_BAR_MSIX, X520_MSIX_PBA, X520_CAP_MSIX,
                      errp) < 0) {
            goto no_msix;
        }
        for (v = 0; v < X520_NUM_VECTORS; v++) {
            msix_vector_use(dev, v);
        }
    }
    if (s->has_msi && msi_init(dev, X520_CAP_MSI, 1, true, true, errp) < 0) {
        goto no_msi;
    }
    if (x520_add_pm(dev, errp) < 0) {
        goto no_pm;
    }
    pcie_cap_deverr_init(dev);
    pcie_cap_flr_init(dev);
    if (pcie_aer_init(dev, 1, X520_CAP_AER, 0x40, errp) < 0) {
        goto no_pm;
    }
    /* EUI-64 of the port's address, as the NVM tools set it. */
    pcie_dev_ser_num_init(dev, X520_CAP_SERIAL,
                          (uint64_t)mac[0] << 56 | (uint64_t)mac[1] << 48 |
                          (uint64_t)mac[2] << 40 | 0xffffULL << 24 |
                          mac[3] << 16 | mac[4] << 8 | mac[5]);
    /* with ARI, the next function is what tells of function 1 */
    pcie_ari_init(dev, X520_CAP_ARI);
    pci_set_word(dev->config + X520_CAP_ARI + PCI_ARI_CAP,
                 s->core.port ? 0 : 1 << 8);
    return true;

no_pm:
    msi_uninit(dev);
no_msi:
    msix_unuse_all_vectors(dev);
    msix_uninit(dev, &s->msix, &s->msix);
no_msix:
    pcie_cap_exit(dev);
    return false;
}

/*
 * Virtual functions come 128 and more after their port, on the same bus. With
 * the card in a slot of its own, as device 0 behind a port, all 64 fit.
 */
static bool x520_add_vfs(X520State *s, Error **errp)
{
    PCIDevice *dev = PCI_DEVICE(s);

    if (!s->vfs) {
        return true;
    }
    if (!pcie_sriov_pf_init(dev, X520_CAP_SRIOV, TYPE_X520_VF,
                            X520_VF_DEVICE_ID, s->vfs, s->vfs,
                            X520_VF_OFFSET, X520_VF_STRIDE, errp)) {
        error_append_hint(errp, "Put the card at address 0 behind a "
                          "pcie-root-port, or give it fewer VFs (vfs=N).\n");
        return false;
    }
    pcie_sriov_pf_init_vf_bar(dev, X520_VF_BAR_MMIO, X520_VF_BAR_TYPE,
                              X520_VF_BAR_SIZE);
    pcie_sriov_pf_init_vf_bar(dev, X520_VF_BAR_MSIX, X520_VF_BAR_TYPE,
                              X520_VF_BAR_SIZE);
    return true;
}

static void x520_uninit(X520State *s)
{
    PCIDevice *dev = PCI_DEVICE(s);

    x520_core_unrealize(&s->core);
    qemu_del_nic(s->core.nic);
    pcie_aer_exit(dev);
    pcie_cap_exit(dev);
    msix_unuse_all_vectors(dev);
    msix_uninit(dev, &s->msix, &s->msix);
    msi_uninit(dev);
}

static void x520_realize(PCIDevice *dev, Error **errp)
{
    X520State *s = X520(dev);
    X520Core *core = &s->core;

    if (!x520_parse_properties(s, errp)) {
        return;
    }
    core->owner = dev;
    core->port = PCI_FUNC(dev->devfn);
    qemu_macaddr_default_if_unset(&s->conf.macaddr);
    memcpy(core->perm_mac, s->conf.macaddr.a, sizeof(core->perm_mac));

    dev->config[PCI_CACHE_LINE_SIZE] = 0x10;
    dev->config[PCI_INTERRUPT_PIN] = 1 + core->port;

    memory_region_init_io(&s->mmio, OBJECT(s), &x520_mmio_ops, s,
                          "x520-mmio", X520_MMIO_SIZE);
    pci_register_bar(dev, X520_BAR_MMIO,
                     PCI_BASE_ADDRESS_MEM_TYPE_64 |
                     PCI_BASE_ADDRESS_MEM_PREFETCH, &s->mmio);
    memory_region_init_io(&s->io, OBJECT(s), &x520_io_ops, s, "x520-io",
                          X520_IO_SIZE);
    pci_register_bar(dev, X520_BAR_IO, PCI_BASE_ADDRESS_SPACE_IO, &s->io);
    memory_region_init(&s->msix, OBJECT(s), "x520-msix", X520_MSIX_SIZE);
    pci_register_bar(dev, X520_BAR_MSIX,
                     PCI_BASE_ADDRESS_MEM_TYPE_64 |
                     PCI_BASE_ADDRESS_MEM_PREFETCH, &s->msix);

    if (!x520_add_capabilities(s, errp)) {
        return;
    }
    core->nic = qemu_new_nic(&x520_net_info, &s->conf,
                             object_get_typename(OBJECT(s)),
                             DEVICE(s)->id,
                             &DEVICE(s)->mem_reentrancy_guard, core);
    qemu_format_nic_info_str(qemu_get_queue(core->nic), core->perm_mac);
    x520_core_realize(core);
    /* last: a function's reset reaches into the core */
    if (!x520_add_vfs(s, errp)) {
        x520_uninit(s);
    }
}

static void x520_exit(PCIDevice *dev)
{
    pcie_sriov_pf_exit(dev);
    x520_uninit(X520(dev));
}

static void x520_reset_hold(Object *obj, ResetType type)
{
    X520State *s = X520(obj);

    s->ioaddr = 0;
    pcie_sriov_pf_reset(PCI_DEVICE(obj));
    x520_core_reset(&s->core);
}

/* ---- surprise removal ---- */

static bool x520_get_removed(Object *obj, Error **errp)
{
    return X520(obj)->core.removed;
}

/* With the hotplug controller told nothing: that is what the surprise is. */
static void x520_set_removed(Object *obj, bool removed, Error **errp)
{
    X520Core *core = &X520(obj)->core;

    if (!qdev_is_realized(DEVICE(obj))) {
        error_setg(errp, "x520: there is no card yet to be pulled out");
    } else if (removed != core->removed) {
        trace_x520_removed(core->port, removed);
        device_cold_reset(DEVICE(obj));
        core->removed = removed;
    }
}

/* ---- migration ---- */

static int x520_post_load(void *opaque, int version_id)
{
    X520State *s = opaque;
    PCIDevice *dev = PCI_DEVICE(s), *vf;

    pcie_sriov_pf_post_load(dev);
    for (unsigned n = 0; (vf = pcie_sriov_get_vf_at_index(dev, n)); n++) {
        /* their BARs are in our configuration space, which came after them */
        pci_default_write_config(vf, PCI_COMMAND,
                                 pci_get_word(vf->config + PCI_COMMAND), 2);
    }
    if (!s->core.faults.rng) {
        s->core.faults.rng = 1;
    }
    x520_intr_post_load(&s->core);
    x520_iov_post_load(&s->core);
    x520_data_post_load(&s->core);
    return 0;
}

static const VMStateDescription vmstate_x520_eitr = {
    .name = "x520/eitr",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_INT64(open_at, X520Eitr),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_x520_i2c = {
    .name = "x520/i2c",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(state, bitbang_i2c_interface),
        VMSTATE_INT32(last_data, bitbang_i2c_interface),
        VMSTATE_INT32(last_clock, bitbang_i2c_interface),
        VMSTATE_INT32(device_out, bitbang_i2c_interface),
        VMSTATE_UINT8(buffer, bitbang_i2c_interface),
        VMSTATE_INT32(current_addr, bitbang_i2c_interface),
        VMSTATE_END_OF_LIST()
    }
};

static const VMStateDescription vmstate_x520 = {
    .name = TYPE_X520,
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = x520_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_PCI_DEVICE(parent_obj, X520State),
        VMSTATE_MSIX(parent_obj, X520State),
        VMSTATE_UINT32(ioaddr, X520State),
        VMSTATE_UINT32_ARRAY(core.mac, X520State, X520_MAC_REGS),
        VMSTATE_UINT16_ARRAY(core.eeprom, X520State, X520_EEPROM_WORDS),
        VMSTATE_STRUCT_ARRAY(core.eitr, X520State, X520_NUM_VECTORS, 0,
                             vmstate_x520_eitr, X520Eitr),
        VMSTATE_UINT64(core.vec_pending, X520State),
        VMSTATE_UINT64(core.vec_mask, X520State),
        VMSTATE_UINT32(core.other_pending, X520State),
        VMSTATE_BOOL(core.legacy_level, X520State),
        VMSTATE_STRUCT_ARRAY(core.vf, X520State, X520_NUM_POOLS, 1,
                             vmstate_x520_core_vf, X520Vf),
        VMSTATE_UINT8_ARRAY(core.qde, X520State, X520_NUM_QUEUES),
        VMSTATE_UINT32_ARRAY(core.rate, X520State, X520_NUM_QUEUES),
        VMSTATE_TIMER_PTR(core.link_timer, X520State),
        VMSTATE_BOOL(core.removed, X520State),
        VMSTATE_BOOL(core.link_ready, X520State),
        VMSTATE_BOOL(core.link_was_up, X520State),
        VMSTATE_BOOL(core.links_latched_down, X520State),
        VMSTATE_BOOL(core.an_started, X520State),
        VMSTATE_STRUCT(core.i2c, X520State, 0, vmstate_x520_i2c,
                       bitbang_i2c_interface),
        VMSTATE_UINT32(core.i2cctl, X520State),
        VMSTATE_UINT32(core.eec, X520State),
        VMSTATE_UINT32(core.spi_shift, X520State),
        VMSTATE_UINT32(core.spi_bits, X520State),
        VMSTATE_UINT32(core.spi_addr, X520State),
        VMSTATE_UINT8(core.spi_cmd, X520State),
        VMSTATE_BOOL(core.spi_wel, X520State),
        VMSTATE_UINT64(core.systim_base, X520State),
        VMSTATE_UINT64(core.systim_latch, X520State),
        VMSTATE_INT64(core.systim_start, X520State),
        VMSTATE_UINT32(core.faults.rng, X520State),
        VMSTATE_UINT32(core.faults.tx_packets, X520State),
        VMSTATE_STRUCT_POINTER(core.fdir, X520State, vmstate_x520_fdir,
                               X520Fdir),
        VMSTATE_STRUCT_POINTER(core.data, X520State, vmstate_x520_data,
                               X520Data),
        VMSTATE_END_OF_LIST()
    }
};

/* ---- type ---- */

static const Property x520_properties[] = {
    DEFINE_NIC_PROPERTIES(X520State, conf),
    DEFINE_PROP_STRING("erratum", X520State, erratum),
    DEFINE_PROP_STRING("sfp", X520State, sfp),
    DEFINE_PROP_STRING("eeprom", X520State, eeprom),
    DEFINE_PROP_UINT32("vfs", X520State, vfs, X520_VFS_AUTO),
    /* Without the capability drivers fall back to MSI, then to INTx. */
    DEFINE_PROP_BOOL("x-msi", X520State, has_msi, true),
    DEFINE_PROP_BOOL("x-msix", X520State, has_msix, true),
    DEFINE_PROP_BOOL("pace", X520State, core.pace, true),
    DEFINE_PROP_UINT32("corrupt-permille", X520State, core.corrupt_permille,
                       0),
    DEFINE_PROP_UINT32("corrupt-seed", X520State, core.corrupt_seed, 0),
    DEFINE_PROP_UINT32("corrupt-offset", X520State, core.corrupt_offset, 0),
    DEFINE_PROP_UINT32("fault-seed", X520State, core.faults.seed, 0),
    DEFINE_PROP_UINT32("fault-drop", X520State, core.faults.drop, 0),
    DEFINE_PROP_UINT32("fault-duplicate", X520State, core.faults.duplicate,
                       0),
    DEFINE_PROP_UINT32("fault-reorder", X520State, core.faults.reorder, 0),
    DEFINE_PROP_UINT32("fault-delay", X520State, core.faults.delay, 0),
    DEFINE_PROP_UINT32("fault-delay-us", X520State, core.faults.delay_us,
                       1000),
    DEFINE_PROP_UINT32("fault-desc", X520State, core.faults.desc, 0),
    DEFINE_PROP_UINT32("fault-desc-set", X520State, core.faults.desc_set, 0),
    DEFINE_PROP_UINT32("fault-desc-clear", X520State, core.faults.desc_clear,
                       0),
    DEFINE_PROP_UINT32("fault-desc-type", X520State, core.faults.desc_type,
                       0),
    DEFINE_PROP_UINT32("fault-desc-length", X520State,
                       core.faults.desc_length, 0),
    DEFINE_PROP_UINT32("fault-irq-lost", X520State, core.faults.irq_lost, 0),
    DEFINE_PROP_UINT32("fault-irq-spurious", X520State,
                       core.faults.irq_spurious, 0),
    DEFINE_PROP_UINT32("fault-tx-hang", X520State, core.faults.tx_hang, 0),
};

static void x520_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = x520_realize;
    pc->exit = x520_exit;
    pc->config_read = x520_read_config;
    pc->config_write = x520_write_config;
    pc->vendor_id = PCI_VENDOR_ID_INTEL;
    pc->device_id = X520_DEVICE_ID;
    pc->subsystem_vendor_id = PCI_VENDOR_ID_INTEL;
    pc->subsystem_id = X520_SUBSYSTEM_ID;
    pc->revision = 1;
    pc->class_id = PCI_CLASS_NETWORK_ETHERNET;
    rc->phases.hold = x520_reset_hold;
    dc->desc = "Intel X520-DA2 10 Gigabit Ethernet (82599ES), one port";
    dc->vmsd = &vmstate_x520;
    device_class_set_props(dc, x520_properties);
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static void x520_instance_init(Object *obj)
{
    X520State *s = X520(obj);

    device_add_bootindex_property(obj, &s->conf.bootindex, "bootindex",
                                  "/ethernet-phy@0", DEVICE(obj));
    object_property_add_bool(obj, "removed", x520_get_removed,
                             x520_set_removed);
    object_property_set_description(obj, "removed",
                                    "Pulled out: reads give all ones");
}

static const TypeInfo x520_info = {
    .name = TYPE_X520,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(X520State),
    .instance_init = x520_instance_init,
    .class_init = x520_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { }
    },
};

static void x520_register_types(void)
{
    type_register_static(&x520_info);
}

type_init(x520_register_types)
