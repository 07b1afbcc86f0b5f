import { Context, Effect } from "effect"
import type { RunId } from "../../../schema/records/Ids.ts"

/**
 * The kind of a change that another server of the same database committed:
 * - `run`: an event or a log line of a Run
 * - `queue`: a new Run, or another status of a Run
 * - `cancel`: somebody has asked to stop a Run
 * - `policy`: an operator made a server reload its policy file
 * - `unknown`: any change, because notifications may have been lost
 */
export type RemoteChange =
  | { readonly kind: "run" | "cancel"; readonly runId: RunId }
  | { readonly kind: "queue" | "policy" | "unknown" }

export interface RemoteChangesShape {
  /**
   * Registers a listener and returns a function that removes it. The listener must only set a flag, and do its work later.
   */
  readonly listen: (listener: (change: RemoteChange) => void) => () => void
}

/** Reports the commits of other servers. A server that does not share its database never calls its listeners. */
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
