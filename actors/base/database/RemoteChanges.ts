import { Context, Effect } from "effect"
import type { RunId } from "../../../schema/records/Ids.ts"

/**
 * The kind of change that another server committed to the shared database: - `run`: a Run event or log line - `queue`: a new
 * Run, or a changed Run status - `cancel`: somebody asked to stop a Run - `policy`: an operator reloaded the policy file of
 * a server
 * - `unknown`: possibly any change, because notifications may have been lost
 */
export type RemoteChange =
  | { readonly kind: "run" | "cancel"; readonly runId: RunId }
  | { readonly kind: "queue" | "policy" | "unknown" }

export interface RemoteChangesShape {
  /**
   * Registers a listener and returns a function that removes it. The listener must only set a flag; any work must happen
   * later.
   */
  readonly listen: (listener: (change: RemoteChange) => void) => () => void
}

/** Reports commits by other servers. If the database is not shared, no listener is ever called. */
export const RemoteChanges = Context.Reference<RemoteChangesShape>("svc/actors/base/database/RemoteChanges", {
  defaultValue: () => ({ listen: () => () => {} })
})

/** Registers a listener until the scope closes. */
export const onRemoteChange = (listener: (change: RemoteChange) => void) =>
  Effect.flatMap(RemoteChanges, (remote) =>
    Effect.acquireRelease(
      Effect.sync(() => remote.listen(listener)),
      (remove) => Effect.sync(remove)
    )
  )
