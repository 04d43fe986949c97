// SPDX-License-Identifier: GPL-2.0
// Seam: ring state
// File: ixgbe.h
// Adds: 1 __IXGBE_RX_ZCG
// Adds: 1 __IXGBE_RX_ZCG_ALL
// Needs: ixgbe_ring_state_t __IXGBE_RX_CSUM_UDP_ZERO_ERR
//
// A bit in ring->state says that a private flag is on, another one that frames are
// to be looked at which the card judged itself. The receive path has that word at
// hand anyway. The bits stand next to the one for the erratum that is the reason
// for all this; the order of the bits means nothing.

@@
symbol __IXGBE_RX_CSUM_UDP_ZERO_ERR;
@@
enum ixgbe_ring_state_t {
	...,
	__IXGBE_RX_CSUM_UDP_ZERO_ERR,
+	__IXGBE_RX_ZCG,
+	__IXGBE_RX_ZCG_ALL,
	...
};
