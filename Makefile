# SPDX-License-Identifier: GPL-2.0

# The fork's version, in modinfo and in the kernel log; the commit is appended.
ZCG_VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"$$/\1/p' dkms.conf)

# KDIR's own release counts if only KDIR is given.
ifdef KDIR
KREL ?= $(shell cat '$(KDIR)/include/config/kernel.release' 2>/dev/null || uname -r)
else
KREL ?= $(shell uname -r)
endif
KDIR ?= /lib/modules/$(KREL)/build
BUILD ?= build/$(KREL)
ZCG_TEST_CLAIM ?= 1

# What the kernel's own make is to know: V=1 W=1 LLVM=1 ...
kbuild_args := $(foreach v,V W C CHECK CF CC LLVM ARCH CROSS_COMPILE KCFLAGS,\
	$(if $(filter command%,$(origin $v)),'$v=$($v)'))

build = scripts/build --krel '$(KREL)' --kdir '$(KDIR)' --out '$(BUILD)' \
	--version '$(ZCG_VERSION)' --claim '$(ZCG_TEST_CLAIM)' $(if $(KSRC),--ksrc '$(KSRC)')

all:
	@+$(build) $(kbuild_args)

diff:
	@+$(build) --source-only $(kbuild_args)
	@scripts/diff "$$(scripts/source '$(KREL)' '$(KDIR)' $(if $(KSRC),'$(KSRC)'))" '$(BUILD)/src'

# As DKMS calls it: all that is made stays in the folder that DKMS removes.
dkms:
	@+ZCG_CACHE='$(CURDIR)/build/cache' $(MAKE) --no-print-directory BUILD=build/dkms all

install_args = --krel '$(KREL)' --module '$(BUILD)/ixgbe.ko' \
	$(if $(DESTDIR)$(INSTALL_MOD_PATH),--root '$(DESTDIR)$(INSTALL_MOD_PATH)')

install:
	@scripts/install $(install_args)

uninstall:
	@scripts/install --uninstall $(install_args)

deb:
	@scripts/make-deb

lint:
	@+scripts/lint --krel '$(KREL)' --kdir '$(KDIR)' --out '$(BUILD)' $(if $(KSRC),--ksrc '$(KSRC)')

unit:
	@$(MAKE) -C tests/unit check

# SECONDS=: how long.
fuzz:
	@$(MAKE) --no-print-directory -C tests/unit fuzz $(if $(SECONDS),SECONDS=$(SECONDS))

check:
	@tests/run

check-long:
	@tests/run --long

matrix:
	@tests/lab/matrix $(KERNELS)

check-hw:
	@tests/hw/run

demo:
	@tests/bench/demo

bench-quick:
	@tests/bench/bench --quick

bench:
	@tests/bench/bench

profile:
	@tests/bench/profile/profile $(KERNEL) $(ROWS)

clean:
	rm -rf build
	@if [ -f tests/unit/Makefile ]; then $(MAKE) -C tests/unit clean; fi

help:
	@echo "make          build/<kernel release>/ixgbe.ko for the running kernel"
	@echo "make diff     the fork against the kernel's ixgbe, as a unified diff"
	@echo "make install  put it into the kernel's modules, make uninstall takes it away; root"
	@echo "make deb      the package ixgbe-zcg-dkms, which builds it for each new kernel"
	@echo "make lint     checkpatch, sparse, cppcheck, clang's analyser, shellcheck on our files"
	@echo "make unit     unit tests of the frame parser, in user space"
	@echo "make fuzz     fuzzing of the frame parser, SECONDS=60 long"
	@echo "make check    all tests; boots kernels with an emulated X520, needs root"
	@echo "make check-long  tests that take too long for make check, needs root"
	@echo "make matrix   the selftests on all kernels of the lab, a row each, needs root;"
	@echo "              KERNELS='debian12 debian13' chooses"
	@echo "make check-hw the selftests on two real ports: NETIF=eth1 PEER=eth2; tests/hw/run --help"
	@echo "make demo     the flag's effect as a table and a chart, needs root"
	@echo "make bench-quick  what receiving costs, in instructions, against limits; needs root"
	@echo "make bench    more of it, on all kernels, with a report and charts; needs root"
	@echo "make profile  where a receiver's instructions go, by kernel function; needs root;"
	@echo "              KERNEL=debian13 ROWS='inbox s1-device' chooses"
	@echo "make clean    remove build/"
	@echo
	@echo "KREL=RELEASE  another installed kernel   KDIR=DIR  headers or build tree"
	@echo "KSRC=SOURCE   kernel tree, source tarball or driver folder to take ixgbe from;"
	@echo "              else the linux-source package, else /lib/modules/KREL/source"
	@echo "DESTDIR=DIR   prefix for make install, as INSTALL_MOD_PATH"
	@echo "BUILD=DIR     where to build             V=1 W=1   as in the kernel's make"
	@echo "ZCG_TEST_CLAIM=0  test build that claims csum_level 0 at most"
	@echo "ZCG_CACHE=DIR     instead of ~/.cache/ixgbe-zcg"

.PHONY: all diff dkms install uninstall deb lint unit fuzz check check-long matrix demo clean help check-hw bench-quick bench profile
