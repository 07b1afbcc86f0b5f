import { Layer } from "effect"
import { DueWork } from "./DueWork.ts"
import { AuditRemoval } from "./audit/AuditRemoval.ts"
import { Receipts } from "./idempotency/Receipts.ts"

/** What every floor needs of the actors' own services; database, vault, audit and cursors come from the outside. */
export const base = Layer.mergeAll(DueWork.layer, Receipts.layer, AuditRemoval.layer)
