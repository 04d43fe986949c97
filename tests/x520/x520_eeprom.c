/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: the EEPROM, read a word at a time through
 * EERD or bit-banged as an SPI device through EEC (82599 datasheet, chapters
 * 3.5.3 and 6).
 *
 * Each function has an image of its own, with its own MAC address in both
 * core sections. Writes work (ethtool -E) and last until QEMU ends.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "x520_core.h"
#include "trace.h"

/* Word addresses of the fixed part, and where this image puts the rest. */
#define NVM_CORE0               0x09
#define NVM_CORE1               0x0a
#define NVM_FIRMWARE            0x0f
#define NVM_PBA_GUARD           0x15
#define NVM_PBA_POINTER         0x16
#define NVM_OPTION_ROM          0x17
#define NVM_PHY_INIT            0x2b
#define NVM_DEVICE_CAPS         0x2c
#define NVM_ETRACK_LOW          0x2d
#define NVM_ETRACK_HIGH         0x2e
#define NVM_INIT_CTRL_3         0x38
#define NVM_CHECKSUM            0x3f

#define NVM_AT_CORE0            0x100
#define NVM_AT_CORE1            0x110
#define NVM_AT_PBA              0x180
#define NVM_AT_FIRMWARE         0x200
#define NVM_AT_PATCH            0x220
#define NVM_AT_PHY_INIT         0x240
#define NVM_AT_PHY_DATA0        0x260
#define NVM_AT_PHY_DATA1        0x268
#define NVM_AT_OPTION_ROM       0x300
/* Its version, two words in its section: as ixgbe reads it. */
#define NVM_OPTION_ROM_VERSION  0x83

#define NVM_SUM                 0xbaba
#define NVM_PBA_IS_STRING       0xfafa
/* Any SFP+ vendor (bit 0); no crosstalk workaround needed (bit 7). */
#define NVM_CAPS                0x0081

enum {
    SPI_WRITE_STATUS = 1,
    SPI_WRITE,
    SPI_READ,
    SPI_WRITE_DISABLE,
    SPI_READ_STATUS,
    SPI_WRITE_ENABLE,
};
#define SPI_STATUS_WEL          0x02

static void x520_nvm_mac(uint16_t *section, const uint8_t *mac)
{
    section[0] = 3;             /* words that follow */
    section[1] = lduw_le_p(mac);
    section[2] = lduw_le_p(mac + 2);
    section[3] = lduw_le_p(mac + 4);
}

static void x520_nvm_checksum(uint16_t *nvm)
{
    uint16_t sum = 0;
    unsigned i, j;

    for (i = 0; i < NVM_CHECKSUM; i++) {
        sum += nvm[i];
    }
    /* The sections whose pointers are words 3 to 0xE count too. */
    for (i = 3; i < NVM_FIRMWARE; i++) {
        unsigned at = nvm[i];

        if (at == 0 || at == 0xffff) {
            continue;
        }
        for (j = 1; j <= nvm[at]; j++) {
            sum += nvm[at + j];
        }
    }
    nvm[NVM_CHECKSUM] = NVM_SUM - sum;
}

void x520_eeprom_init(X520Core *core)
{
    /* Five words, two characters each, high byte first. */
    static const char pba[] = "X520QM-001";
    /* SFP+ type (82599: 3, 4 direct attach; 5, 6 SR/LR) and its sequence */
    static const uint16_t phy_list[] = {
        3, NVM_AT_PHY_DATA0, 4, NVM_AT_PHY_DATA1,
        5, NVM_AT_PHY_DATA0, 6, NVM_AT_PHY_DATA1, 0xffff,
    };
    uint16_t *nvm = core->eeprom;
    unsigned i;

    memset(nvm, 0xff, sizeof(core->eeprom));
    nvm[0x00] = 0x4a00;         /* control word 1: valid signature, 32 KiB */
    nvm[0x01] = 0x0000;         /* control word 2: core clock never gated */

    nvm[NVM_CORE0] = NVM_AT_CORE0;
    nvm[NVM_CORE1] = NVM_AT_CORE1;
    x520_nvm_mac(&nvm[NVM_AT_CORE0], core->perm_mac);
    x520_nvm_mac(&nvm[NVM_AT_CORE1], core->perm_mac);

    /* Firmware section: no LESM, pass-through patch version 6 or later. */
    nvm[NVM_FIRMWARE] = NVM_AT_FIRMWARE;
    nvm[NVM_AT_FIRMWARE + 4] = NVM_AT_PATCH;
    nvm[NVM_AT_PATCH + 7] = 0x0008;

    nvm[NVM_PBA_GUARD] = NVM_PBA_IS_STRING;
    nvm[NVM_PBA_POINTER] = NVM_AT_PBA;
    nvm[NVM_AT_PBA] = 1 + (sizeof(pba) - 1) / 2;
    for (i = 0; i < (sizeof(pba) - 1) / 2; i++) {
        nvm[NVM_AT_PBA + 1 + i] = lduw_be_p(pba + 2 * i);
    }

    /* Option ROM 2.291.4: major, build (16 bits), patch. */
    nvm[NVM_OPTION_ROM] = NVM_AT_OPTION_ROM;
    nvm[NVM_AT_OPTION_ROM + NVM_OPTION_ROM_VERSION] = 0x0201;
    nvm[NVM_AT_OPTION_ROM + NVM_OPTION_ROM_VERSION + 1] = 0x2304;

    nvm[NVM_PHY_INIT] = NVM_AT_PHY_INIT;
    nvm[NVM_AT_PHY_INIT] = ARRAY_SIZE(phy_list);
    memcpy(&nvm[NVM_AT_PHY_INIT + 1], phy_list, sizeof(phy_list));
    /* A sequence: CRC, values for CORECTL, end marker (already there). */
    nvm[NVM_AT_PHY_DATA0] = 0;
    nvm[NVM_AT_PHY_DATA0 + 1] = 0x2400;
    nvm[NVM_AT_PHY_DATA1] = 0;
    nvm[NVM_AT_PHY_DATA1 + 1] = 0x2500;

    nvm[NVM_DEVICE_CAPS] = NVM_CAPS;
    nvm[NVM_ETRACK_LOW] = 0x0520;
    nvm[NVM_ETRACK_HIGH] = 0x8000;      /* bit 15: this is the high word */
    nvm[NVM_INIT_CTRL_3] = 0x0000;
    x520_nvm_checksum(nvm);
    if (core->eeprom_bad) {
        nvm[NVM_CHECKSUM] ^= 0x0100;
    }
}

void x520_eeprom_reset(X520Core *core)
{
    core->eec = 0;
    core->spi_bits = 0;
    core->spi_cmd = 0;
    core->spi_addr = 0;
    core->spi_wel = false;
}

/* ---- SPI: CS (active low), SK, DI, DO are bits of EEC ---- */

static uint8_t x520_nvm_byte(const X520Core *core, uint32_t addr)
{
    uint16_t word = core->eeprom[(addr >> 1) % X520_EEPROM_WORDS];

    return addr & 1 ? word >> 8 : word;
}

static void x520_nvm_store(X520Core *core, uint32_t addr, uint8_t byte)
{
    uint16_t *word = &core->eeprom[(addr >> 1) % X520_EEPROM_WORDS];

    if (addr & 1) {
        *word = (*word & 0x00ff) | byte << 8;
    } else {
        *word = (*word & 0xff00) | byte;
    }
}

static void x520_spi_deselect(X520Core *core)
{
    if (core->spi_cmd == SPI_WRITE && core->spi_bits > 24) {
        core->spi_wel = false;
    }
    core->spi_bits = 0;
    core->spi_cmd = 0;
}

static void x520_spi_command(X520Core *core)
{
    switch (core->spi_cmd) {
    case SPI_WRITE_ENABLE:
        core->spi_wel = true;
        break;
    case SPI_WRITE_DISABLE:
        core->spi_wel = false;
        break;
    }
}

/* One rising clock edge: take a bit in, put a bit out. */
static void x520_spi_clock(X520Core *core, bool in)
{
    uint32_t n = core->spi_bits++;
    uint8_t out = 0xff;

    core->spi_shift = core->spi_shift << 1 | in;
    if (n < 8) {
        if (n == 7) {
            core->spi_cmd = core->spi_shift & 7;
            x520_spi_command(core);
        }
    } else if (core->spi_cmd == SPI_READ_STATUS) {
        out = core->spi_wel ? SPI_STATUS_WEL : 0;
    } else if (n < 24) {
        if (n == 23) {
            core->spi_addr = core->spi_shift & 0xffff;
        }
    } else if (core->spi_cmd == SPI_READ) {
        out = x520_nvm_byte(core, core->spi_addr + ((n - 24) >> 3));
    } else if (core->spi_cmd == SPI_WRITE && (n & 7) == 7 && core->spi_wel) {
        x520_nvm_store(core, core->spi_addr + ((n - 24) >> 3),
                       core->spi_shift);
    }
    if (core->spi_bits > 0x1000000) {
        core->spi_bits = 24;    /* an endless burst starts over */
    }
    core->eec &= ~X520_EEC_DO;
    if (out >> (7 - (n & 7)) & 1) {
        core->eec |= X520_EEC_DO;
    }
}

static void x520_eec_write(X520Core *core, uint32_t value)
{
    uint32_t pins = X520_EEC_SK | X520_EEC_CS | X520_EEC_DI;
    uint32_t old = core->eec;

    core->eec = (old & X520_EEC_DO) |
                (value & (pins | X520_EEC_REQ | 0x30));
    if (!(value & X520_EEC_REQ) || (value & X520_EEC_CS)) {
        x520_spi_deselect(core);
    } else if (~old & value & X520_EEC_SK) {
        x520_spi_clock(core, value & X520_EEC_DI);
    }
}

uint32_t x520_eeprom_read(X520Core *core, hwaddr offset)
{
    uint32_t eec = core->eec;

    if (offset == X520_EERD) {
        return x520_reg(core, X520_EERD);
    }
    /* Firmware never holds the EEPROM: a request is granted at once. */
    if (eec & X520_EEC_REQ) {
        eec |= X520_EEC_GNT;
    }
    /* The size field is the exponent of the word count over 64 words. */
    return eec | X520_EEC_PRES | X520_EEC_ARD | X520_EEC_ADDR_SIZE |
           (ctz32(X520_EEPROM_WORDS) - 6) << X520_EEC_SIZE_SHIFT;
}

void x520_eeprom_write(X520Core *core, hwaddr offset, uint32_t value)
{
    unsigned word;
    uint16_t data;

    if (offset == X520_EEC) {
        x520_eec_write(core, value);
        return;
    }
    word = (value & 0xffff) >> X520_EERD_ADDR_SHIFT;
    if (!(value & X520_EERD_START)) {
        return;
    }
    data = word < X520_EEPROM_WORDS ? core->eeprom[word] : 0xffff;
    trace_x520_eeprom_read(core->port, word, data);
    core->mac[X520_EERD >> 2] = (uint32_t)data << X520_EERD_DATA_SHIFT |
                                (value & 0xfffc) | X520_EERD_DONE;
}
