import { Layer } from "effect"
import { Audit } from "../../actors/base/audit/Audit.ts"
import { AuditKeys } from "../../actors/base/audit/AuditLink.ts"
import { Receipts } from "../../actors/base/idempotency/Receipts.ts"
import { Cursors } from "../../actors/base/paging/Cursors.ts"
import { testVault } from "./Vault.ts"

/** The services that actors depend on, in a temporary data folder: database, vault, audit trail, receipts and cursors. */
export const testFoundation = Audit.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(AuditKeys.layer, Receipts.layer, Cursors.layer)),
  Layer.provideMerge(testVault)
)
