import { Layer } from "effect"
import * as BackgroundCleanup from "./cleanup/BackgroundCleanup.ts"
import { RecordRemoval } from "./retention/RecordRemoval.ts"
import { StoredBytes } from "./retention/StoredBytes.ts"

/** Background cleanup, and the measurement of stored bytes. */
export const upkeep = BackgroundCleanup.layer.pipe(
  Layer.provide(RecordRemoval.layer),
  Layer.provideMerge(StoredBytes.layer)
)
