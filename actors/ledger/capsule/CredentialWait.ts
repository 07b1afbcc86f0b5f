import { CredentialWait } from "../../../schema/records/Capsule.ts"
import type { ConnectionStatus } from "../../../schema/records/Connection.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import type { ProviderResolution } from "../../../schema/records/Provider.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"

export const CredentialWaitJson = jsonText(CredentialWait)

/** The action that follows a change to the Connection, and the role that can perform it. */
export const renewedWait = { turn: "member", next: "Its Connection was changed since. Plan again." } as const

/** Facts about a blocked credential that its `ProviderResolution` does not contain. */
export interface CredentialObstacle {
  /** True if the operator does not allow the provider. */
  readonly isDenied: boolean
  /** True if the Workspace, or Runs in this pool, must not use the pool's credentials. */
  readonly isOfPool: boolean
  /** The status of the bound Connection. */
  readonly connection: ConnectionStatus | undefined
}

const turnOf = (
  { connectionId, status }: ProviderResolution,
  { connection, isDenied, isOfPool }: CredentialObstacle
): Pick<CredentialWait, "turn" | "next"> => {
  if (isDenied) return { turn: "operator", next: "The operator of this service has to allow the provider." }
  if (isOfPool) {
    return {
      turn: "operator",
      next: "The operator of this service decides who may use a pool's credentials, and which pool executes the Capsule."
    }
  }
  if (connectionId === undefined) {
    return { turn: "admin", next: "An owner or admin binds a Connection with a configuration plan." }
  }
  if (connection === "unconfirmed") {
    return { turn: "operator", next: "The operator of this service looks at what the restore brought back." }
  }
  // A revocation cannot be undone, so a different Connection must be bound.
  if (connection === "revoked") {
    return { turn: "admin", next: "An owner or admin binds another Connection with a configuration plan." }
  }
  return {
    turn: "admin",
    next:
      status === "blocked_policy"
        ? "An owner or admin starts the plan, changes who may use the Connection, or binds another one with a configuration plan."
        : "An owner or admin renews the Connection, or binds another one with a configuration plan."
  }
}

/** Describes the blocked credential, and the next step to unblock it. */
export const credentialWaitOf = (
  run: { readonly id: RunId; readonly since: string },
  blocked: ProviderResolution,
  obstacle: CredentialObstacle
): CredentialWait => ({
  runId: run.id,
  since: run.since,
  provider: blocked.provider,
  moduleLocalName: blocked.moduleLocalName,
  ...(blocked.childAlias === undefined ? {} : { childAlias: blocked.childAlias }),
  ...(blocked.connectionId === undefined ? {} : { connectionId: blocked.connectionId }),
  reason: blocked.blockedReason ?? "No Connection is bound.",
  ...turnOf(blocked, obstacle)
})
