import type { NoticeEndpointRow } from "./NoticeRows.ts"

type Owner = Pick<NoticeEndpointRow, "id" | "workspace_id">

const place =
  (column: "address" | "secret" | "former_secret") =>
  ({ id, workspace_id }: Owner) => ({ table: "notice_endpoints", column, workspaceId: workspace_id, rowId: id })

/** The sealing contexts of an endpoint's address, its secret and its previous secret. */
export const noticeAddressPlace = place("address")
export const noticeSecretPlace = place("secret")
export const formerSecretPlace = place("former_secret")
