import { Context, Effect, Layer } from "effect"
import { diskSpace } from "../../runner/sandbox/limits/FolderSize.ts"

// Free space below which the disk is treated as full: roughly the amount that a few commands could write. Runs are stopped
// much earlier (SVC_RUN_FREE_DISK), so that their results can still be recorded.
const fullBelow = 4 * 1024 * 1024

/** The free space on the disk of the data folder. Unknown if a host application provides the database. */
export const StorageSpace = Context.Reference<{
  /** Free bytes. */
  readonly free: Effect.Effect<number | undefined>
  /**
   * Returns true if there is barely enough space for a write. In that case, writes are refused before they begin, and the
   * server reports that it is not ready.
   */
  readonly isFull: Effect.Effect<boolean>
}>("svc/src/database/StorageSpace", {
  defaultValue: () => ({ free: Effect.succeed(undefined), isFull: Effect.succeed(false) })
})

/** Measures the disk of a folder, at most once a second. */
export const storageSpace = (folder: string) =>
  Layer.effect(
    StorageSpace,
    Effect.map(
      Effect.cachedWithTTL(
        Effect.map(diskSpace(folder), (space) => space?.freeBytes),
        "1 second"
      ),
      (free) => ({ free, isFull: Effect.map(free, (bytes) => bytes !== undefined && bytes < fullBelow) })
    )
  )
