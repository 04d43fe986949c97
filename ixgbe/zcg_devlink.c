// SPDX-License-Identifier: GPL-2.0
/*
 * devlink: what the card is, which versions run on it, and the private flag
 * zero-csum-gro as a runtime parameter. Where ixgbe has an instance of its own
 * (7.x), the fork adds to that; else it brings one.
 *
 * Nothing here touches the card when somebody asks: what devlink dev info says
 * was read at probe. So a query may come during a reset, with the port down or
 * with the card gone.
 *
 * Order of locks: the instance's, then rtnl. What holds rtnl and has news for
 * devlink leaves them to a work item.
 */
#include <linux/ethtool_netlink.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/rtnetlink.h>

#include "ixgbe.h"
#include "ixgbe_common.h"
#include "zcg_build.h"
#include "zcg_compat_devlink.h"

static int zcg_param_get(ZCG_PARAM_GET_ARGS)
{
	ctx->val.vbool = zcg_mode(zcg_devlink_adapter(devlink)) == ZCG_ON;
	return 0;
}

/* May the parameter have this value? Under rtnl. */
static int zcg_param_check(const struct ixgbe_adapter *adapter, bool on,
			   struct netlink_ext_ack *extack)
{
	if (on && zcg_mode(adapter) == ZCG_DEFER) {
		NL_SET_ERR_MSG(extack, ZCG_DEFER_NAME
			       " is on; first: ethtool --set-priv-flags <port> "
			       ZCG_DEFER_NAME " off");
		return -EBUSY;
	}
	return zcg_check_mode(adapter->netdev, on ? ZCG_ON : ZCG_OFF, extack);
}

/* Here and not in the set operation, which has no extack everywhere. */
static int zcg_param_validate(ZCG_PARAM_VALIDATE_ARGS)
{
	int err;

	rtnl_lock();
	err = zcg_param_check(zcg_devlink_adapter(devlink),
			      ZCG_PARAM_VALIDATE_VALUE.vbool, extack);
	rtnl_unlock();
	return err;
}

static int zcg_param_set(ZCG_PARAM_SET_ARGS)
{
	struct ixgbe_adapter *adapter = zcg_devlink_adapter(devlink);
	bool on = ctx->val.vbool;
	struct netlink_ext_ack why = {};
	int err;

	rtnl_lock();
	err = zcg_param_check(adapter, on, &why);
	/* Off says nothing about the other flag. */
	if (!err && on != (zcg_mode(adapter) == ZCG_ON) &&
	    zcg_mode(adapter) != ZCG_DEFER) {
		zcg_switch(adapter->netdev, on ? ZCG_ON : ZCG_OFF);
		zcg_ethtool_notify(adapter->netdev,
				   ETHTOOL_MSG_PRIVFLAGS_NTF);
	}
	rtnl_unlock();
	return err;
}

/* Behind the in-box driver's own, where it has any. */
#define ZCG_PARAM_ID	(DEVLINK_PARAM_GENERIC_ID_MAX + 5766)

static const struct devlink_param zcg_params[] = {
	DEVLINK_PARAM_DRIVER(ZCG_PARAM_ID, "zero_csum_gro",
			     DEVLINK_PARAM_TYPE_BOOL,
			     BIT(DEVLINK_PARAM_CMODE_RUNTIME),
			     zcg_param_get, zcg_param_set, zcg_param_validate),
};

/**
 * zcg_devlink_info_put - add the fork's version to the answer to dev info
 * @req: the answer
 *
 * Context: devlink's info_get operation.
 * Return: 0 or an error of devlink's.
 */
int zcg_devlink_info_put(struct devlink_info_req *req)
{
	return devlink_info_version_running_put(req, "ixgbe-zcg", ZCG_VERSION);
}

static void zcg_devlink_notify(struct work_struct *work)
{
	struct zcg_adapter *zcg = container_of(work, struct zcg_adapter,
					       notify);
	struct devlink *devlink;

	rtnl_lock();
	devlink = zcg->devlink;
	rtnl_unlock();
	/* It stays there: zcg_devlink_remove() waits for this to end. */
	if (devlink)
		zcg_devlink_value_changed(devlink, ZCG_PARAM_ID);
}

/**
 * zcg_devlink_init - prepare for changes of the private flag
 * @adapter: the port, not yet registered
 *
 * Context: PCI probe, sleepable.
 */
void zcg_devlink_init(struct ixgbe_adapter *adapter)
{
	INIT_WORK(&adapter->zcg.notify, zcg_devlink_notify);
}

/**
 * zcg_devlink_changed - tell devlink's listeners that the parameter changed
 * @adapter: the port
 *
 * Until the parameter is registered there is nobody to tell.
 *
 * Context: rtnl held.
 */
void zcg_devlink_changed(struct ixgbe_adapter *adapter)
{
	if (adapter->zcg.devlink)
		schedule_work(&adapter->zcg.notify);
}

/**
 * struct zcg_devlink - private area of the instance that the fork brings
 * @adapter: the port; first, see zcg_devlink_adapter()
 * @serial: PCI device serial number
 * @board: product assembly number (PBA)
 * @undi: version of the option ROM
 * @bundle: eetrack id of the EEPROM's content
 *
 * As read at probe; empty if the EEPROM does not say.
 */
struct zcg_devlink {
	struct ixgbe_adapter *adapter;
	char serial[24];
	char board[IXGBE_PBANUM_LENGTH + 20];
	char undi[24];
	char bundle[12];
};

/* Names and formats are those of the in-box driver that has an instance. */
static int zcg_devlink_info_get(struct devlink *devlink,
				struct devlink_info_req *req,
				struct netlink_ext_ack *extack)
{
	const struct zcg_devlink *card = devlink_priv(devlink);
	int err;

	err = zcg_devlink_put_driver(req);
	if (err)
		return err;
	err = devlink_info_serial_number_put(req, card->serial);
	if (err)
		return err;

	if (*card->board) {
		err = devlink_info_version_fixed_put(req, "board.id",
						     card->board);
		if (err)
			return err;
	}
	if (*card->undi) {
		err = devlink_info_version_running_put(req, "fw.undi",
						       card->undi);
		if (err)
			return err;
	}
	if (*card->bundle) {
		err = devlink_info_version_running_put(req, "fw.bundle_id",
						       card->bundle);
		if (err)
			return err;
	}
	return zcg_devlink_info_put(req);
}

static const struct devlink_ops zcg_devlink_ops = {
	.info_get = zcg_devlink_info_get,
};

/* Ask the card once. Under rtnl, which keeps resets away. */
static void zcg_devlink_read(struct zcg_devlink *card)
{
	struct ixgbe_hw *hw = &card->adapter->hw;
	struct ixgbe_nvm_version nvm = {};
	__be64 dsn = cpu_to_be64(pci_get_dsn(card->adapter->pdev));

	snprintf(card->serial, sizeof(card->serial), "%8phD", &dsn);

	if (ixgbe_read_pba_string_generic(hw, (u8 *)card->board,
					  sizeof(card->board)))
		*card->board = '\0';

	/* A vendor's own version takes the place of both. */
	ixgbe_get_oem_prod_version(hw, &nvm);
	if (nvm.oem_valid) {
		snprintf(card->undi, sizeof(card->undi), "%x.%x.%x",
			 nvm.oem_major, nvm.oem_minor, nvm.oem_release);
		return;
	}

	ixgbe_get_orom_version(hw, &nvm);
	if (nvm.or_valid)
		snprintf(card->undi, sizeof(card->undi), "%d.%d.%d",
			 nvm.or_major, nvm.or_build, nvm.or_patch);
	ixgbe_get_etk_id(hw, &nvm);
	snprintf(card->bundle, sizeof(card->bundle), "0x%08x", nvm.etk_id);
}

/* Returns an instance of our own, registered with its parameter, or NULL. */
static struct devlink *zcg_devlink_bring(struct ixgbe_adapter *adapter)
{
	struct device *dev = &adapter->pdev->dev;
	struct zcg_devlink *card;
	struct devlink *devlink;

	devlink = zcg_devlink_alloc(&zcg_devlink_ops, sizeof(*card), dev);
	if (!devlink)
		return NULL;

	card = devlink_priv(devlink);
	card->adapter = adapter;
	rtnl_lock();
	zcg_devlink_read(card);
	rtnl_unlock();

	if (zcg_devlink_register(devlink, dev, zcg_params,
				 ARRAY_SIZE(zcg_params))) {
		devlink_free(devlink);
		return NULL;
	}
	return devlink;
}

/* The instance that has the parameter from now on: the in-box driver's, or ours
 * where that has none (for this card).
 */
static struct devlink *zcg_devlink_make(struct ixgbe_adapter *adapter)
{
	struct devlink *devlink = zcg_inbox_devlink(adapter);

	if (!devlink)
		return zcg_devlink_bring(adapter);
	if (zcg_devlink_add_params(devlink, zcg_params,
				   ARRAY_SIZE(zcg_params)))
		return NULL;
	return devlink;
}

static void zcg_devlink_unmake(struct ixgbe_adapter *adapter,
			       struct devlink *devlink)
{
	if (devlink == zcg_inbox_devlink(adapter)) {
		devlink_params_unregister(devlink, zcg_params,
					  ARRAY_SIZE(zcg_params));
		return;
	}
	zcg_devlink_unregister(devlink, zcg_params, ARRAY_SIZE(zcg_params));
	devlink_free(devlink);
}

/**
 * zcg_devlink_probe - offer the port's devlink parameter, and info
 * @pdev: the port, which ixgbe_probe() has just taken
 *
 * Without it the port works all the same.
 *
 * Context: PCI probe, sleepable.
 */
void zcg_devlink_probe(struct pci_dev *pdev)
{
	struct ixgbe_adapter *adapter = pci_get_drvdata(pdev);
	struct devlink *devlink = zcg_devlink_make(adapter);

	if (!devlink) {
		pci_warn(pdev, "no devlink parameter zero_csum_gro; the private flag does the same\n");
		return;
	}
	rtnl_lock();
	adapter->zcg.devlink = devlink;
	rtnl_unlock();
}

/**
 * zcg_devlink_remove - undo what zcg_devlink_probe() did
 * @adapter: the port, of which nothing is gone yet
 *
 * Returns when no query is on its way any more.
 *
 * Context: PCI remove, sleepable.
 */
void zcg_devlink_remove(struct ixgbe_adapter *adapter)
{
	struct devlink *devlink = adapter->zcg.devlink;

	if (!devlink)
		return;

	/* From here on nobody schedules the work. */
	rtnl_lock();
	adapter->zcg.devlink = NULL;
	rtnl_unlock();
	cancel_work_sync(&adapter->zcg.notify);

	zcg_devlink_unmake(adapter, devlink);
}
