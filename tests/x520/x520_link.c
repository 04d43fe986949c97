/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: link state and the software semaphore.
 *
 * The port has a direct-attach cable, so it links at 10 Gb/s serial (SFI)
 * without negotiation, or at 1 Gb/s when AUTOC selects that mode. Backplane
 * modes (KX4, KR) find no partner. Changing the mode or asking for a restart
 * takes the link down for X520_LINK_UP_MS of virtual time.
 */

#include "qemu/osdep.h"
#include "x520_core.h"
#include "trace.h"

#define X520_LINK_UP_MS         2

/*
 * EEPROM defaults: 10 Gb/s serial, 1 Gb/s over SFI, KX4 and KX capable;
 * serial PMD SFI (AUTOC2 bits 17:16 = 2).
 */
#define X520_AUTOC_DEFAULT      (0xc09c0004 | X520_AUTOC_LMS_10G_SER)
#define X520_AUTOC2_DEFAULT     0x000a0000
#define X520_AUTOC2_DISABLE     0x70000000
#define X520_ANLP1_AN_STATE     0x00010000      /* any state but reset */

static unsigned x520_lms(const X520Core *core)
{
    return (x520_reg(core, X520_AUTOC) & X520_AUTOC_LMS_MASK) >>
           X520_AUTOC_LMS_SHIFT;
}

/* Speed of the selected link mode, 0 for one that cannot link here. */
static uint64_t x520_mode_bps(const X520Core *core)
{
    switch (x520_lms(core)) {
    case 0:                     /* 1 Gb/s, no negotiation */
    case 2:                     /* 1 Gb/s, clause 37 */
        return 1000000000ULL;
    case 1:                     /* 10 Gb/s parallel, no negotiation */
    case 3:                     /* 10 Gb/s serial */
        return 10000000000ULL;
    default:
        return 0;
    }
}

bool x520_link_up(const X520Core *core)
{
    NetClientState *nc = qemu_get_queue(core->nic);

    if (x520_reg(core, X520_AUTOC2) & X520_AUTOC2_DISABLE) {
        return false;
    }
    if (x520_reg(core, X520_AUTOC) & X520_AUTOC_FLU) {
        return true;
    }
    return core->link_ready && !nc->link_down && x520_mode_bps(core) &&
           core->sfp != X520_SFP_NONE;
}

uint64_t x520_link_bps(const X520Core *core)
{
    uint64_t bps;

    if (!x520_link_up(core)) {
        return 0;
    }
    bps = x520_mode_bps(core);
    return bps ? bps : 10000000000ULL;
}

bool x520_loopback(const X520Core *core)
{
    return x520_reg(core, X520_HLREG0) & X520_HLREG0_LPBK;
}

/* Report a change between @was and now; restart what waited for the link. */
static void x520_link_changed(X520Core *core, bool was)
{
    bool up = x520_link_up(core);

    if (was == up) {
        return;
    }
    trace_x520_link(core->port, up, x520_link_bps(core));
    if (!up) {
        core->links_latched_down = true;
    }
    x520_intr_other(core, X520_EICR_LSC);
    if (up) {
        x520_core_kick(core);
    }
}

static void x520_link_timer(void *opaque)
{
    X520Core *core = opaque;
    bool was = x520_link_up(core);

    core->link_ready = true;
    x520_link_changed(core, was);
}

static void x520_link_restart(X520Core *core)
{
    core->link_ready = false;
    timer_mod(core->link_timer,
              qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) + X520_LINK_UP_MS);
}

void x520_link_set(X520Core *core)
{
    NetClientState *nc = qemu_get_queue(core->nic);
    bool was = core->link_was_up;

    core->link_was_up = !nc->link_down;
    if (was == core->link_was_up) {
        return;
    }
    if (nc->link_down) {
        /* What x520_link_up() said before the backend went away. */
        bool up = core->link_ready && x520_mode_bps(core) &&
                  core->sfp != X520_SFP_NONE &&
                  !(x520_reg(core, X520_AUTOC2) & X520_AUTOC2_DISABLE);

        x520_link_changed(core, up);
    } else {
        x520_link_restart(core);
    }
}

/*
 * LINKS.UP latches low: after a loss of link the first read says down even
 * when the link is back, so that a short loss is not missed.
 */
static uint32_t x520_links_read(X520Core *core)
{
    uint32_t links = 0;
    bool up = x520_link_up(core) && !core->links_latched_down;

    core->links_latched_down = false;
    if (x520_link_bps(core) == 1000000000ULL) {
        links |= X520_LINKS_SPEED_1G | 0x00240000;      /* PCS_1G, SYNC */
    } else {
        links |= X520_LINKS_SPEED_10G | 0x00020000;     /* 10G align */
    }
    if (up) {
        links |= X520_LINKS_UP | 0x00000080;
    }
    return links;
}

uint32_t x520_link_read(X520Core *core, hwaddr offset)
{
    uint32_t value;

    switch (offset) {
    case X520_LINKS:
        return x520_links_read(core);
    case X520_ANLP1:
        return core->an_started ? X520_ANLP1_AN_STATE : 0;
    case X520_SWSM:
        /* Reading takes SMBI: whoever reads 0 has it. */
        value = x520_reg(core, X520_SWSM);
        core->mac[X520_SWSM >> 2] = value | X520_SWSM_SMBI;
        return value;
    default:                    /* LINKS2 */
        return 0;
    }
}

void x520_link_write(X520Core *core, hwaddr offset, uint32_t value)
{
    bool was = x520_link_up(core);
    uint32_t old = x520_reg(core, offset);

    switch (offset) {
    case X520_AUTOC:
        core->mac[offset >> 2] = value & ~X520_AUTOC_AN_RESTART;
        if (value & X520_AUTOC_AN_RESTART) {
            core->an_started = true;
            x520_link_restart(core);
        } else if ((old ^ value) & X520_AUTOC_LMS_MASK) {
            x520_link_restart(core);
        }
        x520_link_changed(core, was);
        break;
    case X520_AUTOC2:
        core->mac[offset >> 2] = value;
        if (old & ~value & X520_AUTOC2_DISABLE) {
            x520_link_restart(core);
        }
        x520_link_changed(core, was);
        break;
    case X520_SWSM:
        /* SWESMBI is always granted: there is no firmware to hold it. */
        core->mac[offset >> 2] = value & 7;
        break;
    }
}

void x520_link_realize(X520Core *core)
{
    core->link_timer = timer_new_ms(QEMU_CLOCK_VIRTUAL, x520_link_timer,
                                    core);
    core->link_was_up = true;
}

void x520_link_unrealize(X520Core *core)
{
    timer_free(core->link_timer);
    core->link_timer = NULL;
}

/*
 * The register file is at its defaults; @restart is false for a software
 * reset, which leaves the PHY's link alone.
 */
void x520_link_reset(X520Core *core, bool restart)
{
    core->mac[X520_AUTOC >> 2] = X520_AUTOC_DEFAULT;
    core->mac[X520_AUTOC2 >> 2] = X520_AUTOC2_DEFAULT;
    core->links_latched_down = false;
    if (restart) {
        core->an_started = false;
        x520_link_restart(core);
    }
}
