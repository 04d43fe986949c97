/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The same as zcg_compat.h for devlink, which has changed more than the rest:
 * what is registered when, under which lock, and what a parameter's operations
 * are given.
 */
#ifndef ZCG_COMPAT_DEVLINK_H
#define ZCG_COMPAT_DEVLINK_H

#include <net/devlink.h>

#include "zcg_compat.h"

/* What a parameter's operations are called with. */
#ifdef ZCG_HAVE_DEVLINK_PARAM_GET_EXTACK
#define ZCG_PARAM_GET_ARGS	struct devlink *devlink, u32 id,	\
				struct devlink_param_gset_ctx *ctx,	\
				struct netlink_ext_ack *extack
#else
#define ZCG_PARAM_GET_ARGS	struct devlink *devlink, u32 id,	\
				struct devlink_param_gset_ctx *ctx
#endif

#ifdef ZCG_HAVE_DEVLINK_PARAM_SET_EXTACK
#define ZCG_PARAM_SET_ARGS	struct devlink *devlink, u32 id,	\
				struct devlink_param_gset_ctx *ctx,	\
				struct netlink_ext_ack *extack
#else
#define ZCG_PARAM_SET_ARGS	struct devlink *devlink, u32 id,	\
				struct devlink_param_gset_ctx *ctx
#endif

#ifdef ZCG_HAVE_DEVLINK_PARAM_VALIDATE_POINTER
#define ZCG_PARAM_VALIDATE_ARGS	struct devlink *devlink, u32 id,	\
				union devlink_param_value *val,		\
				struct netlink_ext_ack *extack
#define ZCG_PARAM_VALIDATE_VALUE	(*val)
#else
#define ZCG_PARAM_VALIDATE_ARGS	struct devlink *devlink, u32 id,	\
				union devlink_param_value val,		\
				struct netlink_ext_ack *extack
#define ZCG_PARAM_VALIDATE_VALUE	val
#endif

/* The adapter is an instance's private area, or that begins with a pointer. */
static inline struct ixgbe_adapter *zcg_devlink_adapter(struct devlink *devlink)
{
#ifdef ZCG_HAVE_ADAPTER_IN_DEVLINK
	return devlink_priv(devlink);
#else
	return *(struct ixgbe_adapter **)devlink_priv(devlink);
#endif
}

/* The in-box driver's own instance, NULL if it has none (for this card). */
static inline struct devlink *
zcg_inbox_devlink(const struct ixgbe_adapter *adapter)
{
#ifdef ZCG_HAVE_IXGBE_DEVLINK
	return adapter->devlink;
#else
	return NULL;
#endif
}

static inline void zcg_devlink_value_changed(struct devlink *devlink, u32 id)
{
#ifdef ZCG_HAVE_DEVL_PARAM_VALUE_CHANGED
	devl_lock(devlink);
	devl_param_value_changed(devlink, id);
	devl_unlock(devlink);
#else
	devlink_param_value_changed(devlink, id);
#endif
}

/* Add parameters to an instance that may be registered already, which devlink
 * allows since it has a lock per instance for them.
 */
static inline int zcg_devlink_add_params(struct devlink *devlink,
					 const struct devlink_param *params,
					 size_t count)
{
#ifdef ZCG_HAVE_DEVL_PARAM_VALUE_CHANGED
	return devlink_params_register(devlink, params, count);
#else
	return -EOPNOTSUPP;
#endif
}

static inline struct devlink *
zcg_devlink_alloc(const struct devlink_ops *ops, size_t size,
		  struct device *dev)
{
#ifdef ZCG_HAVE_DEVLINK_ALLOC_DEV
	return devlink_alloc(ops, size, dev);
#else
	return devlink_alloc(ops, size);
#endif
}

/* Register an instance and its parameters. First kernels wanted the instance
 * first and parameters published, then they wanted the parameters first.
 */
static inline int zcg_devlink_register(struct devlink *devlink,
				       struct device *dev,
				       const struct devlink_param *params,
				       size_t count)
{
	int err;

#ifdef ZCG_HAVE_DEVLINK_PARAMS_PUBLISH
#ifdef ZCG_HAVE_DEVLINK_ALLOC_DEV
	err = devlink_register(devlink);
#else
	err = devlink_register(devlink, dev);
#endif
	if (err)
		return err;
	err = devlink_params_register(devlink, params, count);
	if (err) {
		devlink_unregister(devlink);
		return err;
	}
	devlink_params_publish(devlink);
#else
	err = devlink_params_register(devlink, params, count);
	if (err)
		return err;
	devlink_register(devlink);
#endif
	return 0;
}

static inline void zcg_devlink_unregister(struct devlink *devlink,
					  const struct devlink_param *params,
					  size_t count)
{
#ifdef ZCG_HAVE_DEVLINK_PARAMS_PUBLISH
	devlink_params_unregister(devlink, params, count);
	devlink_unregister(devlink);
#else
	devlink_unregister(devlink);
	devlink_params_unregister(devlink, params, count);
#endif
}

/* Newer kernels say by themselves which driver it is. */
static inline int zcg_devlink_put_driver(struct devlink_info_req *req)
{
#ifdef ZCG_HAVE_DEVLINK_INFO_DRIVER_NAME
	return devlink_info_driver_name_put(req, KBUILD_MODNAME);
#else
	return 0;
#endif
}

#endif /* ZCG_COMPAT_DEVLINK_H */
