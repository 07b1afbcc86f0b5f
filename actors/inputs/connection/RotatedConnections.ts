import { Effect } from "effect"
import type { ProviderResolution } from "../../../schema/records/Provider.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { ConnectionStore } from "./ConnectionStore.ts"

export const connectionRevoked =
  "A Connection that this plan was made with was revoked. Bind another one, and plan again."
export const connectionRotated = "A Connection that this plan was made with has new values. Plan again."

/** Why a Connection is no longer the one used for the plan; a removed Connection is reported where it is needed. */
export const rotationProblem = (
  use: Pick<NonNullable<ProviderResolution["use"]>, "connectionVersion"> | undefined,
  row: Pick<ConnectionRow, "status" | "version"> | undefined
): string | undefined => {
  if (row?.status === "revoked") return connectionRevoked
  // A plan without a recorded version is assumed to have been made with the first.
  return row !== undefined && row.version !== (use?.connectionVersion ?? 1) ? connectionRotated : undefined
}

/** Why a plan has lost the credentials that it was made with; `undefined` otherwise. */
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
