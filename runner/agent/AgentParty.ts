import { Context, Effect } from "effect"
import { type JobOffer, offerText, type RunClaim } from "../../schema/agent/AgentJob.ts"
import { sha256 } from "../execution/Digest.ts"
import type { AgentIdentity } from "./AgentFolder.ts"
import { type AgentKeyPair, isSignedBy, sealingKey } from "./AgentKeyPair.ts"
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
    /** Whether the server whose keys were pinned at the enrolment made this offer, for this agent. */
    readonly isOffered: (offer: JobOffer) => Effect.Effect<boolean>
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
    isOffered: (offer) =>
      isSignedBy(
        identity.serverKeys.sign,
        offerText({ from: server, to: agentId }, offer, sha256(new TextEncoder().encode(offer.sealedJob))),
        offer.signature
      ),
    received: (claim, kind) => sealedFor({ from: server, to: agentId }, claim, kind),
    sent: (claim, kind) => sealedFor({ from: agentId, to: server }, claim, kind)
  })
})
