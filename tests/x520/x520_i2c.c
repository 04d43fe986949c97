/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: the SFP+ module behind I2CCTL.
 *
 * Software bit-bangs SCL and SDA; the module answers at the two addresses of
 * SFF-8472, A0h (identification) and A2h (diagnostics). It is a passive
 * direct-attach cable, or with the property sfp=sr an Intel 10GBASE-SR module
 * with diagnostics.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qapi/error.h"
#include "hw/i2c/i2c.h"
#include "x520_core.h"

#define I2CCTL_CLK_IN           0x1
#define I2CCTL_CLK_OUT          0x2
#define I2CCTL_DATA_IN          0x4
#define I2CCTL_DATA_OUT         0x8

#define SFP_ADDR_ID             (0xa0 >> 1)
#define SFP_ADDR_DIAG           (0xa2 >> 1)

#define TYPE_X520_SFP "x520-sfp"
OBJECT_DECLARE_SIMPLE_TYPE(X520Sfp, X520_SFP)

struct X520Sfp {
    I2CSlave parent_obj;

    uint8_t data[256];
    uint8_t pos;                /* next byte to read */
    bool want_pos;              /* the next byte written sets pos */
};

static int x520_sfp_event(I2CSlave *i2c, enum i2c_event event)
{
    X520Sfp *sfp = X520_SFP(i2c);

    if (event == I2C_START_SEND) {
        sfp->want_pos = true;
    }
    return 0;
}

static uint8_t x520_sfp_recv(I2CSlave *i2c)
{
    X520Sfp *sfp = X520_SFP(i2c);

    return sfp->data[sfp->pos++];
}

static int x520_sfp_send(I2CSlave *i2c, uint8_t byte)
{
    X520Sfp *sfp = X520_SFP(i2c);

    if (sfp->want_pos) {
        sfp->pos = byte;
        sfp->want_pos = false;
    }
    return 0;                   /* data is taken and forgotten: read-only */
}

static const VMStateDescription vmstate_x520_sfp = {
    .name = TYPE_X520_SFP,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_I2C_SLAVE(parent_obj, X520Sfp),
        VMSTATE_UINT8(pos, X520Sfp),
        VMSTATE_BOOL(want_pos, X520Sfp),
        VMSTATE_END_OF_LIST()
    }
};

static void x520_sfp_class_init(ObjectClass *klass, void *data)
{
    I2CSlaveClass *sc = I2C_SLAVE_CLASS(klass);
    DeviceClass *dc = DEVICE_CLASS(klass);

    sc->event = x520_sfp_event;
    sc->recv = x520_sfp_recv;
    sc->send = x520_sfp_send;
    dc->vmsd = &vmstate_x520_sfp;
    dc->user_creatable = false;
    dc->desc = "SFP+ module of an X520 port";
}

static const TypeInfo x520_sfp_info = {
    .name = TYPE_X520_SFP,
    .parent = TYPE_I2C_SLAVE,
    .instance_size = sizeof(X520Sfp),
    .class_init = x520_sfp_class_init,
};

static void x520_sfp_register_types(void)
{
    type_register_static(&x520_sfp_info);
}

type_init(x520_sfp_register_types)

/* ---- contents (SFF-8472) ---- */

static void x520_sfp_text(uint8_t *to, size_t len, const char *text)
{
    memset(to, ' ', len);
    memcpy(to, text, MIN(len, strlen(text)));
}

static uint8_t x520_sfp_sum(const uint8_t *from, size_t len)
{
    uint8_t sum = 0;

    while (len--) {
        sum += *from++;
    }
    return sum;
}

static void x520_sfp_fill_id(const X520Core *core, uint8_t *id)
{
    g_autofree char *serial = g_strdup_printf("%02X%02X%02X%u",
                                              core->perm_mac[3],
                                              core->perm_mac[4],
                                              core->perm_mac[5], core->port);

    memset(id, 0, 256);
    id[0] = 0x03;               /* SFP or SFP+ */
    id[1] = 0x04;               /* defined by the two-wire interface */
    id[12] = 103;               /* 10.3 GBd */
    if (core->sfp != X520_SFP_DA) {
        id[2] = 0x07;           /* LC */
        id[3] = 0x10;           /* 10GBASE-SR */
        id[11] = 0x06;          /* 64B/66B */
        id[16] = 8;             /* 80 m of OM2 */
        id[19] = 30;            /* 300 m of OM3 */
        stw_be_p(id + 60, 850); /* nm */
        if (core->sfp == X520_SFP_SR) {
            memcpy(id + 37, "\x00\x1b\x21", 3);
            x520_sfp_text(id + 20, 16, "Intel Corp");
        } else {
            memcpy(id + 37, "\x52\x54\x00", 3);
            x520_sfp_text(id + 20, 16, "QEMU");
        }
        x520_sfp_text(id + 40, 16, "FTLX8571D3BCV-IT");
        id[92] = 0x68;          /* diagnostics, internally calibrated */
        id[94] = 0x03;          /* SFF-8472 rev 10.2 */
    } else {
        id[2] = 0x21;           /* copper pigtail */
        id[8] = 0x04;           /* passive cable */
        id[18] = 1;             /* 1 m */
        id[60] = 0x01;          /* SFF-8431 appendix E */
        memcpy(id + 37, "\x52\x54\x00", 3);
        x520_sfp_text(id + 20, 16, "QEMU");
        x520_sfp_text(id + 40, 16, "X520-DAC-1M");
    }
    x520_sfp_text(id + 56, 4, "A");
    id[63] = x520_sfp_sum(id, 63);
    x520_sfp_text(id + 68, 16, serial);
    x520_sfp_text(id + 84, 8, "260101");
    id[95] = x520_sfp_sum(id + 64, 31);
}

static void x520_sfp_fill_diag(const X520Core *core, uint8_t *diag)
{
    /* temperature, supply, bias, transmit, receive: alarms and warnings */
    static const uint16_t limits[] = {
        0x4e00, 0xf300, 0x4900, 0xf800, 0x8dcc, 0x7404, 0x8a48, 0x7788,
        0x157c, 0x01f4, 0x1482, 0x03e8, 0x3dea, 0x04eb, 0x2710, 0x09d0,
        0x3dea, 0x01f5, 0x2710, 0x03e8,
    };
    static const float one = 1.0f;
    unsigned i;

    memset(diag, 0, 256);
    if (core->sfp == X520_SFP_DA) {
        return;
    }
    for (i = 0; i < ARRAY_SIZE(limits); i++) {
        stw_be_p(diag + 2 * i, limits[i]);
    }
    stl_be_p(diag + 68, *(const uint32_t *)&one);
    for (i = 76; i < 92; i += 4) {
        stw_be_p(diag + i, 0x0100);     /* slopes of 1 */
    }
    diag[95] = x520_sfp_sum(diag, 95);
    stw_be_p(diag + 96, 35 << 8);       /* 35 degrees C */
    stw_be_p(diag + 98, 33000);         /* 3.3 V */
    stw_be_p(diag + 100, 3500);         /* 7 mA */
    stw_be_p(diag + 102, 5800);         /* 0.58 mW */
    stw_be_p(diag + 104, 5200);         /* 0.52 mW */
}

void x520_i2c_realize(X520Core *core)
{
    I2CSlave *id, *diag;

    core->i2c_bus = i2c_init_bus(DEVICE(core->owner), "x520-i2c");
    bitbang_i2c_init(&core->i2c, core->i2c_bus);
    core->i2c.current_addr = -1;
    core->i2cctl = I2CCTL_CLK_OUT | I2CCTL_DATA_OUT;
    if (core->sfp == X520_SFP_NONE) {
        return;                 /* nobody answers */
    }

    id = i2c_slave_new(TYPE_X520_SFP, SFP_ADDR_ID);
    x520_sfp_fill_id(core, X520_SFP(id)->data);
    i2c_slave_realize_and_unref(id, core->i2c_bus, &error_abort);

    diag = i2c_slave_new(TYPE_X520_SFP, SFP_ADDR_DIAG);
    x520_sfp_fill_diag(core, X520_SFP(diag)->data);
    i2c_slave_realize_and_unref(diag, core->i2c_bus, &error_abort);
}

/* ---- the register ---- */

uint32_t x520_i2c_read(X520Core *core)
{
    uint32_t value = core->i2cctl;

    /* Both lines are open drain: what is read is the wired AND. */
    if (core->i2c.last_clock) {
        value |= I2CCTL_CLK_IN;
    }
    if (core->i2c.last_data && core->i2c.device_out) {
        value |= I2CCTL_DATA_IN;
    }
    return value;
}

void x520_i2c_write(X520Core *core, uint32_t value)
{
    int clock = !!(value & I2CCTL_CLK_OUT);
    int data = !!(value & I2CCTL_DATA_OUT);

    core->i2cctl = value & (I2CCTL_CLK_OUT | I2CCTL_DATA_OUT);
    /*
     * When one write moves both lines, data must move while the clock is
     * low, or it would look like a start or stop condition.
     */
    if (!clock) {
        bitbang_i2c_set(&core->i2c, BITBANG_I2C_SCL, clock);
    }
    bitbang_i2c_set(&core->i2c, BITBANG_I2C_SDA, data);
    if (clock) {
        bitbang_i2c_set(&core->i2c, BITBANG_I2C_SCL, clock);
    }
}
