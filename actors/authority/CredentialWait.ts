import { Schema } from "effect"
import { CredentialWait } from "../../schema/records/Capsule.ts"
import { RunId } from "../../schema/records/Ids.ts"
import type { ProviderResolution } from "../../schema/records/Provider.ts"

export const encodeCredentialWait = Schema.encodeSync(Schema.fromJsonString(CredentialWait))

/** What has to be done, and by whom, once the Connection that a Capsule waits for was changed. */
export const renewedWait = { turn: "member", next: "Its Connection was changed since. Plan again." } as const

const turnOf = (
  { connectionId, status }: ProviderResolution,
  isDenied: boolean
): Pick<CredentialWait, "turn" | "next"> => {
  if (isDenied) return { turn: "operator", next: "The operator of this service has to allow the provider." }
  if (connectionId === undefined) {
    return { turn: "admin", next: "An owner or admin binds a Connection with a configuration plan." }
  }
  return {
    turn: "admin",
    next:
      status === "blocked_policy"
        ? "An owner or admin starts the plan, changes who may use the Connection, or binds another one with a configuration plan."
        : "An owner or admin renews the Connection, or binds another one with a configuration plan."
  }
}

/** What a Capsule waits for whose Run met this resolution. `isDenied`: the operator forbids the provider. */
export const credentialWaitOf = (
  run: { readonly id: string; readonly since: string },
  blocked: ProviderResolution,
  isDenied: boolean
): CredentialWait => ({
  runId: RunId.make(run.id),
  since: run.since,
  provider: blocked.provider,
  moduleLocalName: blocked.moduleLocalName,
  ...(blocked.childAlias === undefined ? {} : { childAlias: blocked.childAlias }),
  ...(blocked.connectionId === undefined ? {} : { connectionId: blocked.connectionId }),
  reason: blocked.blockedReason ?? "No Connection is bound.",
  ...turnOf(blocked, isDenied)
})
