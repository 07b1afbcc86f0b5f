import { Layer } from "effect"
import { DueWork } from "./DueWork.ts"
import { AuditRemoval } from "./audit/AuditRemoval.ts"
import { Receipts } from "./idempotency/Receipts.ts"

/** Services of the actors that every floor uses. The composition provides database, vault, audit and cursors. */
export const base = Layer.mergeAll(DueWork.layer, Receipts.layer, AuditRemoval.layer)
