/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: Flow Director (82599 datasheet, 7.1.2.7).
 *
 * Filters lie in hash buckets. Software computes a filter's bucket, and so does
 * this code for each frame, from the same fields: a driver whose hash is wrong
 * gets no match, as on the card. A signature filter compares a second hash, a
 * perfect one the fields themselves.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/bitops.h"
#include "qemu/host-utils.h"
#include "x520_data.h"
#include "trace.h"

#define X520_FDIR_FILTERS       32768   /* with 256 KiB of packet buffer */
#define X520_FDIR_BUCKETS       8192
#define X520_FDIR_NONE          UINT32_MAX

typedef struct X520FdirFilter {
    uint32_t hash;              /* FDIRHASH: bucket, and signature or index */
    uint32_t cmd;               /* FDIRCMD */
    uint32_t sip, dip, port, vlan;
    uint32_t next;              /* in the bucket, or of the free ones */
    bool used;
} X520FdirFilter;

struct X520Fdir {
    X520FdirFilter filter[X520_FDIR_FILTERS];
    uint32_t bucket[X520_FDIR_BUCKETS];
    uint32_t num;               /* entries of filter[] ever used */
    uint32_t free;
};

/* The fields of a frame that filters look at, in the datasheet's order. */
typedef struct X520FdirKey {
    uint32_t head;              /* pool, flow type, VLAN */
    uint32_t ip;                /* all words of both addresses, XORed */
    uint32_t sip, dip;          /* IPv4, host order */
    uint16_t sport, dport, flex;
    uint8_t type;               /* as FDIRCMD bits 7:5 */
} X520FdirKey;

static bool x520_fdir_perfect(X520Core *core)
{
    return x520_reg(core, X520_FDIRCTRL) & X520_FDIRCTRL_PERFECT;
}

static uint32_t x520_fdir_bucket(uint32_t hash)
{
    return hash & (X520_FDIR_BUCKETS - 1);
}

/* ---- table ---- */

static void x520_fdir_clear(X520Fdir *f)
{
    memset(f->bucket, 0xff, sizeof(f->bucket));
    f->num = 0;
    f->free = X520_FDIR_NONE;
}

static void x520_fdir_link(X520Fdir *f, uint32_t n)
{
    uint32_t *bucket = &f->bucket[x520_fdir_bucket(f->filter[n].hash)];

    f->filter[n].used = true;
    f->filter[n].next = *bucket;
    *bucket = n;
}

/*
 * The link that leads to the filter that FDIRHASH names. With @fields, those
 * of a perfect filter must agree too, and not its index.
 */
static uint32_t *x520_fdir_find(X520Core *core, const X520FdirFilter *want,
                                bool fields)
{
    X520Fdir *f = core->fdir;
    uint32_t *link = &f->bucket[x520_fdir_bucket(want->hash)];

    for (; *link != X520_FDIR_NONE; link = &f->filter[*link].next) {
        const X520FdirFilter *have = &f->filter[*link];

        if (fields && x520_fdir_perfect(core)) {
            if (!((have->cmd ^ want->cmd) & X520_FDIRCMD_FLOW) &&
                have->sip == want->sip && have->dip == want->dip &&
                have->port == want->port && have->vlan == want->vlan) {
                break;
            }
        } else if (!((have->hash ^ want->hash) & 0x7fff0000)) {
            break;
        }
    }
    return link;
}

static void x520_fdir_count(X520Core *core, hwaddr offset, unsigned start,
                            unsigned length)
{
    uint32_t *reg = &core->mac[offset >> 2];
    uint32_t max = (1u << length) - 1;
    uint32_t value = extract32(*reg, start, length);

    *reg = deposit32(*reg, start, length, MIN(value + 1, max));
}

static void x520_fdir_add(X520Core *core, const X520FdirFilter *want)
{
    X520Fdir *f = core->fdir;
    uint32_t *space = &core->mac[X520_FDIRFREE >> 2];
    uint32_t n = *x520_fdir_find(core, want, true);

    if (n != X520_FDIR_NONE) {
        if (!(want->cmd & X520_FDIRCMD_UPDATE)) {
            x520_fdir_count(core, X520_FDIRFSTAT, 0, 8);
            return;
        }
        f->filter[n].cmd = want->cmd;
        f->filter[n].hash = want->hash;
        return;
    }
    n = f->free;
    if (!(*space & 0xffff) ||
        (n == X520_FDIR_NONE && f->num == X520_FDIR_FILTERS)) {
        x520_fdir_count(core, X520_FDIRFSTAT, 0, 8);
        return;
    }
    if (n != X520_FDIR_NONE) {
        f->free = f->filter[n].next;
    } else {
        n = f->num++;
    }
    f->filter[n] = *want;
    x520_fdir_link(f, n);
    *space = deposit32(*space, 0, 16, (*space & 0xffff) - 1);
    x520_fdir_count(core, X520_FDIRUSTAT, 0, 16);
    if ((*space & 0xffff) ==
        16 * (x520_reg(core, X520_FDIRCTRL) >> X520_FDIRCTRL_FULL_SHIFT)) {
        x520_intr_other(core, X520_EICR_FLOW_DIR);
    }
}

static void x520_fdir_remove(X520Core *core, const X520FdirFilter *want)
{
    X520Fdir *f = core->fdir;
    uint32_t *space = &core->mac[X520_FDIRFREE >> 2];
    uint32_t *link = x520_fdir_find(core, want, false);
    uint32_t n = *link;

    if (n == X520_FDIR_NONE) {
        x520_fdir_count(core, X520_FDIRFSTAT, 8, 8);
        return;
    }
    *link = f->filter[n].next;
    f->filter[n].used = false;
    f->filter[n].next = f->free;
    f->free = n;
    *space = deposit32(*space, 0, 16, (*space & 0xffff) + 1);
    x520_fdir_count(core, X520_FDIRUSTAT, 16, 16);
}

/* ---- registers ---- */

void x520_fdirctrl_write(X520Core *core, hwaddr offset, uint32_t value)
{
    uint32_t old = x520_reg(core, offset);
    unsigned alloc = value & X520_FDIRCTRL_PBALLOC;

    value &= ~X520_FDIRCTRL_INIT_DONE;
    if (alloc) {
        value |= X520_FDIRCTRL_INIT_DONE;
        if (!(old & X520_FDIRCTRL_INIT_DONE) ||
            !x520_reg(core, X520_FDIRFREE)) {
            /* 8 K, 16 K or 32 K signature filters, a quarter of perfect */
            core->mac[X520_FDIRFREE >> 2] =
                ((value & X520_FDIRCTRL_PERFECT ? 1024 : 4096) << alloc) - 2;
            x520_fdir_clear(core->fdir);
        }
    }
    core->mac[offset >> 2] = value;
}

void x520_fdircmd_write(X520Core *core, hwaddr offset, uint32_t value)
{
    X520FdirFilter want = {
        .hash = x520_reg(core, X520_FDIRHASH),
        .cmd = value,
        .sip = x520_reg(core, X520_FDIRIPSA),
        .dip = x520_reg(core, X520_FDIRIPDA),
        .port = x520_reg(core, X520_FDIRPORT),
        .vlan = x520_reg(core, X520_FDIRVLAN),
    };

    if (value & X520_FDIRCMD_CLEARHT) {
        x520_fdir_clear(core->fdir);
    }
    if (x520_reg(core, X520_FDIRCTRL) & X520_FDIRCTRL_PBALLOC) {
        switch (value & X520_FDIRCMD_CMD) {
        case X520_FDIRCMD_ADD:
            x520_fdir_add(core, &want);
            break;
        case X520_FDIRCMD_REMOVE:
            x520_fdir_remove(core, &want);
            break;
        case X520_FDIRCMD_QUERY:
            value &= ~X520_FDIRCMD_VALID;
            if (*x520_fdir_find(core, &want, false) != X520_FDIR_NONE) {
                value |= X520_FDIRCMD_VALID;
            }
            break;
        }
    }
    trace_x520_fdir_cmd(core->port, value, want.hash);
    /* commands complete at once, so CMD reads back as 0 */
    core->mac[offset >> 2] = value & ~X520_FDIRCMD_CMD;
}

/* ---- frames ---- */

/*
 * The input is the first word and the XOR of all others; key bit n takes what
 * lies n bits further on in the input, repeated. The first word comes back at
 * every 16th bit, but for the very beginning.
 */
static uint32_t x520_fdir_hash(uint32_t key, uint32_t head, uint32_t rest)
{
    uint32_t first = ror32(rest, 16);
    uint32_t low = first ^ head ^ head << 16;
    uint32_t high = rest ^ head ^ head >> 16;
    uint32_t hash = key & 1 ? first : 0;

    for (unsigned n = 1; n < 32; n++) {
        if (key >> n & 1) {
            hash ^= n < 16 ? low >> n : high >> (n - 16);
        }
    }
    return hash;
}

static bool x520_fdir_key(X520Core *core, const X520Pkt *p,
                          const uint8_t *buf, size_t len, unsigned pool,
                          X520FdirKey *k)
{
    unsigned flex = 2 * ((x520_reg(core, X520_FDIRCTRL) >>
                          X520_FDIRCTRL_FLEX_SHIFT) & 0x1f);

    memset(k, 0, sizeof(*k));
    if (p->ptype & X520_PTYPE_IPV4) {
        k->sip = ldl_be_p(buf + p->l3 + 12);
        k->dip = ldl_be_p(buf + p->l3 + 16);
        k->ip = k->sip ^ k->dip;
    } else if (p->ptype & X520_PTYPE_IPV6) {
        for (unsigned i = 0; i < 8; i++) {
            k->ip ^= ldl_be_p(buf + p->l3 + 8 + 4 * i);
        }
        k->type = X520_FDIRCMD_IPV6;
    } else {
        return false;
    }
    if (p->l4 && p->l4_v6 == !(p->ptype & X520_PTYPE_IPV4)) {
        if (p->ptype & X520_PTYPE_UDP) {
            k->type |= X520_FDIRCMD_UDP;
        } else if (p->ptype & X520_PTYPE_TCP) {
            k->type |= X520_FDIRCMD_TCP;
        } else if (p->ptype & X520_PTYPE_SCTP) {
            k->type |= X520_FDIRCMD_UDP | X520_FDIRCMD_TCP;
        }
        k->sport = lduw_be_p(buf + p->l4);
        k->dport = lduw_be_p(buf + p->l4 + 2);
    }
    if (flex + 2 <= len) {
        k->flex = lduw_be_p(buf + flex);
    }
    k->head = pool << 24 | k->type >> X520_FDIRCMD_FLOW_SHIFT << 16 | p->tci;
    return true;
}

/* FDIRTCPM and FDIRUDPM have the last bit of a port first. */
static uint16_t x520_fdir_port_mask(uint32_t reg)
{
    return ~revbit16(reg);
}

/* Takes out what the mask registers say; perfect filters have IPv4 only. */
static bool x520_fdir_mask(X520Core *core, X520FdirKey *k)
{
    uint32_t fdirm = x520_reg(core, X520_FDIRM);
    uint32_t ports;

    if (k->type & X520_FDIRCMD_IPV6) {
        return false;
    }
    switch (k->type) {
    case X520_FDIRCMD_TCP:
        ports = x520_reg(core, X520_FDIRTCPM);
        break;
    case X520_FDIRCMD_UDP:
        ports = x520_reg(core, X520_FDIRUDPM);
        break;
    default:
        ports = 0;
        break;
    }
    k->sport &= x520_fdir_port_mask(ports);
    k->dport &= x520_fdir_port_mask(ports >> 16);
    k->sip &= ~bswap32(x520_reg(core, X520_FDIRSIP4M));
    k->dip &= ~bswap32(x520_reg(core, X520_FDIRDIP4M));
    k->ip = k->sip ^ k->dip;
    if (fdirm & X520_FDIRM_FLEX) {
        k->flex = 0;
    }
    if (fdirm & X520_FDIRM_VLANID) {
        k->head &= ~0x0fffu;
    }
    if (fdirm & X520_FDIRM_VLANP) {
        k->head &= ~0xf000u;
    }
    if (fdirm & X520_FDIRM_POOL) {
        k->head &= ~0xff000000;
    }
    if (fdirm & X520_FDIRM_L4P) {
        k->type = 0;
        k->head &= ~0x00ff0000;
    }
    return true;
}

static bool x520_fdir_equal(const X520FdirFilter *have, const X520FdirKey *k)
{
    return (have->cmd & X520_FDIRCMD_FLOW) == k->type &&
           (have->cmd >> X520_FDIRCMD_POOL_SHIFT & 0x3f) == k->head >> 24 &&
           have->sip == bswap32(k->sip) && have->dip == bswap32(k->dip) &&
           have->port == ((uint32_t)k->dport << 16 | k->sport) &&
           have->vlan == ((uint32_t)bswap16(k->flex) << 16 |
                          (k->head & 0xffff));
}

bool x520_fdir_match(X520Core *core, const X520Pkt *p, const uint8_t *buf,
                     size_t len, unsigned pool, X520FdirMatch *m)
{
    X520Fdir *f = core->fdir;
    bool perfect = x520_fdir_perfect(core);
    uint32_t hash, sig = 0, n;
    X520FdirKey k;

    if (!(x520_reg(core, X520_FDIRCTRL) & X520_FDIRCTRL_PBALLOC) ||
        !x520_fdir_key(core, p, buf, len, pool, &k)) {
        return false;
    }
    if (perfect) {
        if (!x520_fdir_mask(core, &k)) {
            return false;
        }
    } else if (!(k.type & (X520_FDIRCMD_UDP | X520_FDIRCMD_TCP))) {
        return false;
    }
    n = k.ip ^ ((uint32_t)(k.sport ^ k.flex) << 16 | k.dport);
    hash = x520_fdir_hash(x520_reg(core, X520_FDIRHKEY), k.head, n);
    if (!perfect) {
        sig = x520_fdir_hash(x520_reg(core, X520_FDIRSKEY), k.head, n);
    }
    for (n = f->bucket[x520_fdir_bucket(hash)]; n != X520_FDIR_NONE;
         n = f->filter[n].next) {
        const X520FdirFilter *have = &f->filter[n];

        if (perfect ? x520_fdir_equal(have, &k) :
            !((have->hash >> 16 ^ sig) & 0x7fff)) {
            break;
        }
    }
    if (n == X520_FDIR_NONE) {
        x520_stat_add(core, X520_FDIRMISS, 1);
        return false;
    }
    x520_stat_add(core, X520_FDIRMATCH, 1);
    m->drop = f->filter[n].cmd & X520_FDIRCMD_DROP;
    m->to_queue = f->filter[n].cmd & X520_FDIRCMD_QUEUE_EN;
    m->queue = (f->filter[n].cmd >> X520_FDIRCMD_QUEUE_SHIFT) &
               (X520_NUM_QUEUES - 1);
    m->id = f->filter[n].hash;
    trace_x520_fdir_match(core->port, m->id, m->queue, m->drop);
    return true;
}

/* ---- life cycle ---- */

void x520_fdir_realize(X520Core *core)
{
    core->fdir = g_new0(X520Fdir, 1);
    x520_fdir_clear(core->fdir);
}

void x520_fdir_unrealize(X520Core *core)
{
    g_free(core->fdir);
    core->fdir = NULL;
}

void x520_fdir_reset(X520Core *core)
{
    x520_fdir_clear(core->fdir);
}

static bool x520_fdir_valid(void *opaque, int version_id)
{
    X520Fdir *f = opaque;

    return f->num <= X520_FDIR_FILTERS;
}

/* Chains are not saved but made again. */
static int x520_fdir_post_load(void *opaque, int version_id)
{
    X520Fdir *f = opaque;
    uint32_t num = f->num;

    x520_fdir_clear(f);
    f->num = num;
    for (uint32_t n = 0; n < num; n++) {
        if (f->filter[n].used) {
            x520_fdir_link(f, n);
        } else {
            f->filter[n].next = f->free;
            f->free = n;
        }
    }
    return 0;
}

static const VMStateDescription vmstate_x520_fdir_filter = {
    .name = "x520/fdir-filter",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(hash, X520FdirFilter),
        VMSTATE_UINT32(cmd, X520FdirFilter),
        VMSTATE_UINT32(sip, X520FdirFilter),
        VMSTATE_UINT32(dip, X520FdirFilter),
        VMSTATE_UINT32(port, X520FdirFilter),
        VMSTATE_UINT32(vlan, X520FdirFilter),
        VMSTATE_BOOL(used, X520FdirFilter),
        VMSTATE_END_OF_LIST()
    }
};

const VMStateDescription vmstate_x520_fdir = {
    .name = "x520/fdir",
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = x520_fdir_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(num, X520Fdir),
        VMSTATE_VALIDATE("number of filters", x520_fdir_valid),
        VMSTATE_STRUCT_VARRAY_UINT32(filter, X520Fdir, num, 1,
                                     vmstate_x520_fdir_filter,
                                     X520FdirFilter),
        VMSTATE_END_OF_LIST()
    }
};
