import { Layer } from "effect"
import { DueWork } from "./DueWork.ts"
import { AuditRemoval } from "./audit/AuditRemoval.ts"
import { Receipts } from "./idempotency/Receipts.ts"
import { ExclusiveWork } from "./node/ExclusiveWork.ts"
import { Nodes } from "./node/Nodes.ts"
import { NoticeMailChoices } from "./notice/NoticeMailChoices.ts"

/** Layers for the services that actors at every level use. Requires the database, vault, audit and cursors. */
export const base = Layer.mergeAll(
  DueWork.layer,
  Receipts.layer,
  AuditRemoval.layer,
  NoticeMailChoices.layer,
  ExclusiveWork.layer.pipe(Layer.provideMerge(Nodes.layer))
)
