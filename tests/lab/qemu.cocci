// SPDX-License-Identifier: GPL-2.0
//
// Under -icount sleep=off, QEMU's main loop advances the clock to the next timer
// when the processor is halted. The processor's thread halts it without a lock,
// and only then adds the instructions that it executed to the clock: a main loop
// that wakes up in between computes the distance from a clock that is late, and
// the clock goes past the timer by those instructions. How often, the host's
// load decides. Wait until they were added; the processor's thread wakes the main
// loop when it has done so. (The lab has one processor under -icount.)

@@
@@
 if (!all_cpu_threads_idle()) {
     return;
 }
+if (qatomic_read(&first_cpu->icount_budget)) {
+    return;
+}
