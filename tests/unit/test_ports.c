// SPDX-License-Identifier: GPL-2.0
/* The table of tunnel ports, include/zcg_ports.h. */
#include <pthread.h>

#include "unit.h"

static __be16 port(unsigned int number)
{
	uint8_t bytes[2] = { number >> 8, number & 0xff };
	__be16 p;

	memcpy(&p, bytes, 2);
	return p;
}

static unsigned int used(const struct zcg_ports *t)
{
	unsigned int i, n = 0;

	for (i = 0; i < ZCG_MAX_PORTS; i++)
		n += t->slot[i] != 0;
	return n;
}

static void set_and_lookup(void **state)
{
	struct zcg_ports t = { { 0 } };

	(void)state;
	assert_int_equal(zcg_ports_lookup(&t, port(5766)), ZCG_TUNNEL_NONE);
	assert_int_equal(zcg_ports_set(&t, port(5766), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(zcg_ports_set(&t, port(6081), ZCG_TUNNEL_GENEVE), 0);
	assert_int_equal(zcg_ports_set(&t, port(4790), ZCG_TUNNEL_VXLAN_GPE), 0);
	assert_int_equal(zcg_ports_lookup(&t, port(5766)), ZCG_TUNNEL_VXLAN);
	assert_int_equal(zcg_ports_lookup(&t, port(6081)), ZCG_TUNNEL_GENEVE);
	assert_int_equal(zcg_ports_lookup(&t, port(4790)), ZCG_TUNNEL_VXLAN_GPE);
	assert_int_equal(used(&t), 3);
	/* 5766 with its bytes swapped, a neighbour, and the free slots' value */
	assert_int_equal(zcg_ports_lookup(&t, port(0x8616)), ZCG_TUNNEL_NONE);
	assert_int_equal(zcg_ports_lookup(&t, port(5767)), ZCG_TUNNEL_NONE);
	assert_int_equal(zcg_ports_lookup(&t, port(0)), ZCG_TUNNEL_NONE);
}

static void slot_is_one_word_in_network_order(void **state)
{
	struct zcg_ports t = { { 0 } };
	uint16_t low;

	(void)state;
	assert_int_equal(sizeof(t.slot), 64);
	assert_int_equal(zcg_ports_set(&t, port(0x1234), ZCG_TUNNEL_GENEVE), 0);
	low = t.slot[0] & 0xffff;
	assert_memory_equal(&low, "\x12\x34", 2);
	assert_int_equal(t.slot[0] >> 16, ZCG_TUNNEL_GENEVE);
}

static void set_twice_takes_one_slot(void **state)
{
	struct zcg_ports t = { { 0 } };

	(void)state;
	assert_int_equal(zcg_ports_set(&t, port(4789), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(zcg_ports_set(&t, port(4789), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(used(&t), 1);
	assert_int_equal(zcg_ports_clear(&t, port(4789), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(zcg_ports_lookup(&t, port(4789)), ZCG_TUNNEL_NONE);
	assert_int_equal(used(&t), 0);
}

static void sixteen_ports_and_no_more(void **state)
{
	struct zcg_ports t = { { 0 } }, before;
	unsigned int i;

	(void)state;
	for (i = 0; i < 16; i++)
		assert_int_equal(zcg_ports_set(&t, port(1000 + i), ZCG_TUNNEL_VXLAN), 0);
	before = t;
	assert_int_equal(zcg_ports_set(&t, port(2000), ZCG_TUNNEL_VXLAN), -ENOSPC);
	assert_memory_equal(&t, &before, sizeof(t));
	/* one that is there may still change */
	assert_int_equal(zcg_ports_set(&t, port(1015), ZCG_TUNNEL_GENEVE), 0);
	assert_int_equal(zcg_ports_lookup(&t, port(1015)), ZCG_TUNNEL_GENEVE);
	for (i = 0; i < 15; i++)
		assert_int_equal(zcg_ports_lookup(&t, port(1000 + i)), ZCG_TUNNEL_VXLAN);
	assert_int_equal(used(&t), 16);

	assert_int_equal(zcg_ports_clear(&t, port(1007), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(zcg_ports_set(&t, port(2000), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(zcg_ports_lookup(&t, port(2000)), ZCG_TUNNEL_VXLAN);
	assert_int_equal(zcg_ports_lookup(&t, port(1007)), ZCG_TUNNEL_NONE);

	zcg_ports_reset(&t);
	assert_int_equal(used(&t), 0);
	assert_int_equal(zcg_ports_lookup(&t, port(2000)), ZCG_TUNNEL_NONE);
}

static void a_port_behind_a_hole_is_not_set_twice(void **state)
{
	struct zcg_ports t = { { 0 } };

	(void)state;
	assert_int_equal(zcg_ports_set(&t, port(1), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(zcg_ports_set(&t, port(2), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(zcg_ports_clear(&t, port(1), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(zcg_ports_set(&t, port(2), ZCG_TUNNEL_GENEVE), 0);
	assert_int_equal(used(&t), 1);
	assert_int_equal(zcg_ports_lookup(&t, port(2)), ZCG_TUNNEL_GENEVE);
}

static void type_change_survives_late_removal(void **state)
{
	struct zcg_ports t = { { 0 } };

	(void)state;
	assert_int_equal(zcg_ports_set(&t, port(4789), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(zcg_ports_set(&t, port(4789), ZCG_TUNNEL_VXLAN_GPE), 0);
	assert_int_equal(zcg_ports_lookup(&t, port(4789)), ZCG_TUNNEL_VXLAN_GPE);
	assert_int_equal(zcg_ports_clear(&t, port(4789), ZCG_TUNNEL_VXLAN), -ENOENT);
	assert_int_equal(zcg_ports_lookup(&t, port(4789)), ZCG_TUNNEL_VXLAN_GPE);
	assert_int_equal(zcg_ports_clear(&t, port(4789), ZCG_TUNNEL_VXLAN_GPE), 0);
	assert_int_equal(zcg_ports_clear(&t, port(4789), ZCG_TUNNEL_VXLAN_GPE), -ENOENT);
}

static void nonsense_is_refused(void **state)
{
	struct zcg_ports t = { { 0 } }, empty = { { 0 } };

	(void)state;
	assert_int_equal(zcg_ports_set(&t, port(0), ZCG_TUNNEL_VXLAN), -EINVAL);
	assert_int_equal(zcg_ports_set(&t, port(1), ZCG_TUNNEL_NONE), -EINVAL);
	assert_int_equal(zcg_ports_set(&t, port(1), ZCG_TUNNELS), -EINVAL);
	assert_int_equal(zcg_ports_set(&t, port(1), (enum zcg_tunnel)99), -EINVAL);
	assert_memory_equal(&t, &empty, sizeof(t));
	assert_int_equal(zcg_ports_clear(&t, port(0), ZCG_TUNNEL_NONE), -ENOENT);
	assert_int_equal(zcg_ports_clear(&t, port(1), ZCG_TUNNEL_VXLAN), -ENOENT);
}

static void every_port_number(void **state)
{
	struct zcg_ports t = { { 0 } };
	unsigned int i, j;

	(void)state;
	for (i = 1; i < 65536; i++) {
		assert_int_equal(zcg_ports_set(&t, port(i), ZCG_TUNNEL_VXLAN), 0);
		for (j = 0; j < 16; j++)
			assert_int_equal(zcg_ports_lookup(&t, port(i ^ 1u << j)), 0);
		assert_int_equal(zcg_ports_lookup(&t, port(i)), ZCG_TUNNEL_VXLAN);
		assert_int_equal(zcg_ports_clear(&t, port(i), ZCG_TUNNEL_VXLAN), 0);
	}
}

/* The filter passes each port in the table, and few others when there are few. */
static void filter_passes_what_is_there(void **state)
{
	struct zcg_ports t = { { 0 } };
	unsigned int i, passed = 0;

	(void)state;
	for (i = 0; i < 65536; i++)
		assert_false(zcg_ports_may_have(&t, port(i)));
	/* Of two ports with the same bit one goes, then the other. */
	assert_int_equal(zcg_ports_set(&t, port(4789), ZCG_TUNNEL_VXLAN), 0);
	assert_int_equal(zcg_ports_set(&t, port(4789 + 64), ZCG_TUNNEL_GENEVE), 0);
	assert_int_equal(zcg_ports_set(&t, port(8472), ZCG_TUNNEL_VXLAN), 0);
	for (i = 0; i < 65536; i++)
		passed += zcg_ports_may_have(&t, port(i));
	assert_int_equal(passed, 2 * 65536 / (8 * sizeof(long)));
	assert_int_equal(zcg_ports_clear(&t, port(4789), ZCG_TUNNEL_VXLAN), 0);
	assert_true(zcg_ports_may_have(&t, port(4789 + 64)));
	assert_int_equal(zcg_ports_clear(&t, port(4789 + 64), ZCG_TUNNEL_GENEVE), 0);
	assert_false(zcg_ports_may_have(&t, port(4789 + 64)));
	assert_true(zcg_ports_may_have(&t, port(8472)));
	zcg_ports_reset(&t);
	assert_false(zcg_ports_may_have(&t, port(8472)));
}

static struct zcg_ports shared;
static bool stop;

static void *writer(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		zcg_ports_set(&shared, port(0x1111), ZCG_TUNNEL_VXLAN);
		zcg_ports_clear(&shared, port(0x1111), ZCG_TUNNEL_VXLAN);
		zcg_ports_set(&shared, port(0x2222), ZCG_TUNNEL_GENEVE);
		zcg_ports_clear(&shared, port(0x2222), ZCG_TUNNEL_GENEVE);
	}
	return unused;
}

/* The writer reuses one slot for two ports: a reader may miss but never mix. */
static void reader_sees_whole_entries(void **state)
{
	unsigned int i, mixed = 0, lost = 0, seen = 0;
	enum zcg_tunnel a, b;
	pthread_t thread;

	(void)state;
	stop = false;
	assert_int_equal(zcg_ports_set(&shared, port(0x3333), ZCG_TUNNEL_VXLAN_GPE), 0);
	assert_int_equal(pthread_create(&thread, NULL, writer, NULL), 0);
	for (i = 0; i < 20000000 && (i < 2000000 || !seen); i++) {
		a = zcg_ports_lookup(&shared, port(0x1111));
		b = zcg_ports_lookup(&shared, port(0x2222));
		mixed += a != ZCG_TUNNEL_NONE && a != ZCG_TUNNEL_VXLAN;
		mixed += b != ZCG_TUNNEL_NONE && b != ZCG_TUNNEL_GENEVE;
		lost += zcg_ports_lookup(&shared, port(0x3333)) != ZCG_TUNNEL_VXLAN_GPE;
		seen += a != ZCG_TUNNEL_NONE || b != ZCG_TUNNEL_NONE;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_int_equal(mixed, 0);
	assert_int_equal(lost, 0);
	assert_true(seen > 0);
}

size_t ports_tests(struct CMUnitTest *list)
{
	const struct CMUnitTest tests[] = {
		{ "ports: set and look up", set_and_lookup, NULL, NULL, NULL },
		{ "ports: a slot is one word, port in network order",
		  slot_is_one_word_in_network_order, NULL, NULL, NULL },
		{ "ports: setting a port twice takes one slot",
		  set_twice_takes_one_slot, NULL, NULL, NULL },
		{ "ports: 16 fit, the 17th is refused",
		  sixteen_ports_and_no_more, NULL, NULL, NULL },
		{ "ports: a port behind a hole is not set twice",
		  a_port_behind_a_hole_is_not_set_twice, NULL, NULL, NULL },
		{ "ports: a change of type survives the old type's removal",
		  type_change_survives_late_removal, NULL, NULL, NULL },
		{ "ports: nonsense is refused", nonsense_is_refused, NULL, NULL, NULL },
		{ "ports: every port number, none of its neighbours",
		  every_port_number, NULL, NULL, NULL },
		{ "ports: the filter passes what is there",
		  filter_passes_what_is_there, NULL, NULL, NULL },
		{ "ports: a reader without lock sees whole entries",
		  reader_sees_whole_entries, NULL, NULL, NULL },
	};

	memcpy(list, tests, sizeof(tests));
	return sizeof(tests) / sizeof(tests[0]);
}
