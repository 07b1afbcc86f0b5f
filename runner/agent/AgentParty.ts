import { Context, Effect, Option } from "effect"
import { type JobOffer, offerText, type RunClaim } from "../../schema/agent/AgentJob.ts"
import { sha256 } from "../execution/Digest.ts"
import type { AgentFolder, AgentFolderUnusable, AgentIdentity } from "./AgentFolder.ts"
import { isSignedWith, openingKeys, sealingKey, verifyingKey } from "./AgentKeyPair.ts"
import { sealedFor, serverParty } from "./BlobContents.ts"
import { type NotSealedForThis, openSealed, type SealedFor } from "./SealedMessage.ts"

type SealedKind = Parameters<typeof sealedFor>[2]

/** This agent and its server, as parties of sealed messages. */
export class AgentParty extends Context.Service<
  AgentParty,
  {
    readonly identity: AgentIdentity
    /** The keys that open what was sealed for this agent, as they are on its disk now. */
    readonly opening: Effect.Effect<ReadonlyArray<CryptoKey>, AgentFolderUnusable>
    /**
     * Opens a whole message, and returns the keys that did: first with those that opened the last one, since the disk has others only
     * after they were replaced.
     */
    readonly open: (
      purpose: SealedFor,
      sealed: string
    ) => Effect.Effect<
      { readonly bytes: Uint8Array; readonly keys: ReadonlyArray<CryptoKey> },
      AgentFolderUnusable | NotSealedForThis
    >
    /** The key that outgoing data is sealed for. */
    readonly serverKey: CryptoKey
    /** Whether the server whose keys were pinned at enrolment made this offer, for this agent. */
    readonly isOffered: (offer: JobOffer) => Effect.Effect<boolean>
    readonly received: (claim: RunClaim, kind: SealedKind) => SealedFor
    readonly sent: (claim: RunClaim, kind: SealedKind) => SealedFor
  }
>()("svc/agent/AgentParty") {}

export const agentParty = Effect.fnUntraced(function* (identity: AgentIdentity, folder: AgentFolder["Service"]) {
  const server = serverParty(identity.installationId)
  const { agentId } = identity
  const opening = Effect.gen(function* () {
    // The next keys are read first: if they are taken meanwhile, they appear among the others.
    const next = yield* folder.nextKeys
    const present = yield* openingKeys(yield* folder.keys)
    // The server seals for the next keys as soon as it accepts them, and another process of this agent may not know
    // yet.
    return Option.isNone(next) ? present : [...present, ...(yield* openingKeys(next.value))]
  })
  const offering = yield* verifyingKey(identity.serverKeys.sign)
  let last: ReadonlyArray<CryptoKey> = []
  const openedBy = (keys: ReadonlyArray<CryptoKey>, purpose: SealedFor, sealed: string) =>
    Effect.map(openSealed(keys, purpose, sealed), (bytes) => {
      last = keys
      return { bytes, keys }
    })
  return AgentParty.of({
    identity,
    opening,
    open: (purpose, sealed) =>
      Effect.suspend(() => openedBy(last, purpose, sealed)).pipe(
        Effect.catch(() => Effect.flatMap(opening, (keys) => openedBy(keys, purpose, sealed)))
      ),
    serverKey: yield* sealingKey(identity.serverKeys.seal),
    isOffered: (offer) =>
      isSignedWith(
        offering,
        offerText({ from: server, to: agentId }, offer, sha256(new TextEncoder().encode(offer.sealedJob))),
        offer.signature
      ),
    received: (claim, kind) => sealedFor({ from: server, to: agentId }, claim, kind),
    sent: (claim, kind) => sealedFor({ from: agentId, to: server }, claim, kind)
  })
})
