# SPDX-License-Identifier: GPL-2.0
"""What is lost when a network driver goes, and how to bring it back (scripts/reload)."""
