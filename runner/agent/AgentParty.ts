import { Context, Effect, Option } from "effect"
import { type JobOffer, offerText, type RunClaim } from "../../schema/agent/AgentJob.ts"
import { sha256 } from "../execution/Digest.ts"
import type { AgentFolder, AgentFolderUnusable, AgentIdentity } from "./AgentFolder.ts"
import { isSignedWith, openingKeys, sealingKey, verifyingKey } from "./AgentKeyPair.ts"
import { sealedFor, serverParty } from "./BlobContents.ts"
import { type NotSealedForThis, openSealed, type SealedFor } from "./SealedMessage.ts"

type SealedKind = Parameters<typeof sealedFor>[2]

/** The agent and its server as parties to sealed messages. */
export class AgentParty extends Context.Service<
  AgentParty,
  {
    readonly identity: AgentIdentity
    /** Reads the keys that open messages for this agent, as currently stored on disk. */
    readonly opening: Effect.Effect<ReadonlyArray<CryptoKey>, AgentFolderUnusable>
    /**
     * Opens a message and returns the keys that opened it. Tries the keys of the previous message first, because the keys on disk
     * rarely change.
     */
    readonly open: (
      purpose: SealedFor,
      sealed: string
    ) => Effect.Effect<
      { readonly bytes: Uint8Array; readonly keys: ReadonlyArray<CryptoKey> },
      AgentFolderUnusable | NotSealedForThis
    >
    /** Key for sealing data to the server. */
    readonly serverKey: CryptoKey
    /** Returns true if this offer is for this agent and comes from the pinned server. */
    readonly isOffered: (offer: JobOffer) => Effect.Effect<boolean>
    readonly received: (claim: RunClaim, kind: SealedKind) => SealedFor
    readonly sent: (claim: RunClaim, kind: SealedKind) => SealedFor
  }
>()("svc/runner/agent/AgentParty") {}

export const agentParty = Effect.fnUntraced(function* (identity: AgentIdentity, folder: AgentFolder["Service"]) {
  const server = serverParty(identity.installationId)
  const { agentId } = identity
  const opening = Effect.gen(function* () {
    // Read the next keys first: if they are adopted in the meantime, they are among the current keys.
    const next = yield* folder.nextKeys
    const present = yield* openingKeys(yield* folder.keys)
    // Also try the next keys. The server uses these keys as soon as it accepts them, possibly before this process notices.
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
