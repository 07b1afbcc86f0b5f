import { Layer } from "effect"
import * as BackgroundCleanup from "./cleanup/BackgroundCleanup.ts"
import { RecordRemoval } from "./retention/RecordRemoval.ts"
import { StoredBytes } from "./retention/StoredBytes.ts"

/** Layers for the background cleanup and the storage measurement. */
export const upkeep = BackgroundCleanup.layer.pipe(
  Layer.provide(RecordRemoval.layer),
  Layer.provideMerge(StoredBytes.layer)
)
