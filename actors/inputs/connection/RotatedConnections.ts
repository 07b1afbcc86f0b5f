import { Effect } from "effect"
import type { ProviderResolution } from "../../../schema/records/Provider.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { ConnectionStore } from "./ConnectionStore.ts"

export const connectionRevoked =
  "A Connection that this plan was made with was revoked. Bind another one, and plan again."
export const connectionRotated = "A Connection that this plan was made with has new values. Plan again."

/** The reason why a Connection differs from the Connection of the plan; a removed Connection is reported elsewhere. */
export const rotationProblem = (
  use: Pick<NonNullable<ProviderResolution["use"]>, "connectionVersion"> | undefined,
  row: Pick<ConnectionRow, "status" | "version"> | undefined
): string | undefined => {
  if (row?.status === "revoked") return connectionRevoked
  // A plan without a recorded version was created with the first version.
  return row !== undefined && row.version !== (use?.connectionVersion ?? 1) ? connectionRotated : undefined
}

/** The reason why a plan has lost its credentials; `undefined` if it has not. */
export const rotatedSince = Effect.fn("rotatedSince")(function* (
  resolutions: ReadonlyArray<ProviderResolution> | undefined
) {
  const connections = yield* ConnectionStore
  for (const { connectionId, use } of resolutions ?? []) {
    const row = connectionId === undefined ? undefined : yield* connections.find(connectionId)
    const problem = rotationProblem(use, row)
    if (problem !== undefined) return problem
  }
  return undefined
})
