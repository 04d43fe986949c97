// SPDX-License-Identifier: GPL-2.0
// Seam: devlink info
// File: devlink/devlink.c ixgbe_devlink.c
// Optional: older drivers have no devlink instance, and get that of zcg_devlink.c
// Adds: 1 zcg_devlink_info_put
// Needs: ixgbe_devlink_info_get devlink_info_req
//
// The fork's version joins what the in-box driver says of the card.

@@
identifier req;
@@
+static int zcg_inbox_info_get(struct devlink *devlink,
+			      struct devlink_info_req *req,
+			      struct netlink_ext_ack *extack);
+
+static int ixgbe_devlink_info_get(struct devlink *devlink,
+				  struct devlink_info_req *req,
+				  struct netlink_ext_ack *extack)
+{
+	int err = zcg_inbox_info_get(devlink, req, extack);
+
+	return err ? err : zcg_devlink_info_put(req);
+}
+
static int
-ixgbe_devlink_info_get
+zcg_inbox_info_get
 (struct devlink *devlink, struct devlink_info_req *req, ...) { ... }
