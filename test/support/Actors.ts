import { Layer } from "effect"
import { Audit } from "../../actors/audit/Audit.ts"
import { AuditKeys } from "../../actors/audit/AuditLink.ts"
import { Receipts } from "../../actors/idempotency/Receipts.ts"
import { Cursors } from "../../actors/paging/Cursors.ts"
import { testVault } from "./Vault.ts"

/** Everything that actors depend on: database, vault, audit trail, receipts and cursors, in a temporary data folder. */
export const testFoundation = Audit.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(AuditKeys.layer, Receipts.layer, Cursors.layer)),
  Layer.provideMerge(testVault)
)
