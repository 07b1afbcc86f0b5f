import { Context, Effect } from "effect"
import type { RunClaim } from "../../schema/agent/AgentJob.ts"
import type { AgentIdentity } from "./AgentFolder.ts"
import { type AgentKeyPair, sealingKey } from "./AgentKeyPair.ts"
import { sealedFor, serverParty } from "./BlobContents.ts"
import type { SealedFor } from "./SealedMessage.ts"

type SealedKind = Parameters<typeof sealedFor>[2]

/** This agent and its server, as parties of what is sealed. */
export class AgentParty extends Context.Service<
  AgentParty,
  {
    readonly identity: AgentIdentity
    readonly keys: AgentKeyPair
    /** What is sent is sealed for it. */
    readonly serverKey: CryptoKey
    readonly received: (claim: RunClaim, kind: SealedKind) => SealedFor
    readonly sent: (claim: RunClaim, kind: SealedKind) => SealedFor
  }
>()("svc/agent/AgentParty") {}

export const agentParty = Effect.fnUntraced(function* (identity: AgentIdentity, keys: AgentKeyPair) {
  const server = serverParty(identity.installationId)
  const { agentId } = identity
  return AgentParty.of({
    identity,
    keys,
    serverKey: yield* sealingKey(identity.serverKeys.seal),
    received: (claim, kind) => sealedFor({ from: server, to: agentId }, claim, kind),
    sent: (claim, kind) => sealedFor({ from: agentId, to: server }, claim, kind)
  })
})
