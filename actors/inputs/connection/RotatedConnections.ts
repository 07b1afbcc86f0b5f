import { Effect } from "effect"
import type { ProviderResolution } from "../../../schema/records/Provider.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { ConnectionStore } from "./ConnectionStore.ts"

export const connectionRevoked =
  "A Connection that this plan was made with was revoked. Bind another one, and plan again."
export const connectionRotated = "A Connection that this plan was made with has new values. Plan again."

/**
 * Returns the reason why a Connection no longer matches the version that the plan used. Removed Connections are reported
 * elsewhere.
 */
export const rotationProblem = (
  use: Pick<NonNullable<ProviderResolution["use"]>, "connectionVersion"> | undefined,
  row: Pick<ConnectionRow, "status" | "version"> | undefined
): string | undefined => {
  if (row?.status === "revoked") return connectionRevoked
  // A plan without a recorded version used the first version.
  return row !== undefined && row.version !== (use?.connectionVersion ?? 1) ? connectionRotated : undefined
}

/** Returns the reason why a plan's credentials are no longer current, or `undefined` if they are. */
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
