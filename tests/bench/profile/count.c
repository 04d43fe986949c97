/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin for QEMU's TCG that counts how often each block of guest code is
 * executed between two marks, exactly.
 *
 * A mark is an instruction that does nothing on any processor: a NOP with the
 * displacement MARK, as mark.c has it. The first one begins the count and the
 * second one ends it and writes a line for each block: address, instructions
 * in it, times executed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glib.h>
#include <qemu-plugin.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* nopl MARK(%rax), MARK being "zcg" and a version */
static const uint8_t mark[] = { 0x0f, 0x1f, 0x80, 'z', 'c', 'g', 1 };

struct block {
	uint64_t pc, insns, before;
	struct qemu_plugin_scoreboard *count;
};

static GHashTable *blocks;
static const char *out;
static int marks;

static uint64_t executed(const struct block *b)
{
	return qemu_plugin_u64_sum(qemu_plugin_scoreboard_u64(b->count));
}

static void on_mark(unsigned int vcpu, void *data)
{
	GHashTableIter i;
	gpointer value;
	FILE *f = NULL;

	if (++marks > 2)
		return;
	if (marks == 2) {
		f = fopen(out, "w");
		if (!f) {
			perror(out);
			exit(1);
		}
	}
	g_hash_table_iter_init(&i, blocks);
	while (g_hash_table_iter_next(&i, NULL, &value)) {
		struct block *b = value;
		uint64_t n = executed(b);

		if (!f)
			b->before = n;
		else if (n != b->before)
			fprintf(f, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
				b->pc, b->insns, n - b->before);
	}
	if (f && fclose(f)) {
		perror(out);
		exit(1);
	}
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block key = {
		.pc = qemu_plugin_tb_vaddr(tb),
		.insns = qemu_plugin_tb_n_insns(tb),
	};
	struct block *b = g_hash_table_lookup(blocks, &key);
	uint8_t code[sizeof(mark)];
	size_t i;

	if (!b) {
		b = g_memdup2(&key, sizeof(key));
		b->count = qemu_plugin_scoreboard_new(sizeof(uint64_t));
		g_hash_table_add(blocks, b);
	}
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
		qemu_plugin_scoreboard_u64(b->count), 1);

	for (i = 0; i < key.insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_data(insn, code, sizeof(code)) == sizeof(mark) &&
		    !memcmp(code, mark, sizeof(mark)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static guint hash(gconstpointer p)
{
	const struct block *b = p;

	return b->pc ^ b->pc >> 32 ^ b->insns << 20;
}

static gboolean equal(gconstpointer p, gconstpointer q)
{
	const struct block *a = p, *b = q;

	return a->pc == b->pc && a->insns == b->insns;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int argc, char **argv)
{
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "count: wants out=FILE\n");
		return -1;
	}
	out = argv[0] + 4;
	blocks = g_hash_table_new(hash, equal);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	return 0;
}
