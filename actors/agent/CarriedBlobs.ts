import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { heldContents } from "../../runner/agent/BlobContents.ts"
import { openBlob } from "../../runner/agent/SealedBlob.ts"
import type { RunClaim } from "../../schema/agent/AgentJob.ts"
import { type AgentRefusal, Busy, Rejected } from "../../schema/agent/AgentRefusal.ts"
import type { CarriedFile } from "../../schema/agent/CarriedFile.ts"
import type { AgentSession } from "../pool/AgentSessions.ts"
import { ServerKeys } from "../pool/ServerKeys.ts"
import { AgentBlobs, type BlobRefused } from "./AgentBlobs.ts"
import { digestOf, fromAgent } from "./JobSecrets.ts"

type Claim = typeof RunClaim.Type
type Kind = CarriedFile["kind"]
type AgentId = AgentSession["agent"]["id"]

/** What a message says of its files, by kind. */
type Named = Readonly<Partial<Record<Kind, string | undefined>>>

/** What unpacks to more is read from the disk where it is needed. */
const mostUnpackedBytes = 1024 * 1024
/** Of so many claims contents are held; those of older ones are on the disk. */
const mostClaims = 16

/** The contents of a file of a claim, the newest of its kind. */
interface Held {
  readonly agentId: AgentId
  readonly kind: Kind
  readonly digest: string
  readonly contents: Redacted.Redacted<Uint8Array>
}

/** What an agent sent and cannot be taken, as it is answered. */
export const refusalOf = ({ message, reason }: BlobRefused): AgentRefusal =>
  reason === "storage" ? new Busy({ message, retryAfterSeconds: 10 }) : new Rejected({ message })

/**
 * The files that came within messages. They are stored like any other, and opened meanwhile: what is in them is held until their Run is settled, so
 * that they are neither read nor opened again.
 */
export class CarriedBlobs extends Context.Service<
  CarriedBlobs,
  {
    /** Afterwards each is stored as if it had been put. Those that the message does not name are refused. */
    readonly keep: (
      agentId: AgentId,
      claim: Claim,
      files: ReadonlyArray<CarriedFile>,
      named: Named
    ) => Effect.Effect<void, AgentRefusal>
    /** Opens a file of this claim, from memory where it is held. */
    readonly open: (
      agentId: AgentId,
      claim: Claim,
      kind: Kind,
      digest: string
    ) => Effect.Effect<Redacted.Redacted<Uint8Array>, BlobRefused>
    /** Whether a file of this claim opens, to its end. */
    readonly check: (agentId: AgentId, claim: Claim, kind: Kind, digest: string) => Effect.Effect<void, BlobRefused>
    readonly forget: (claim: Claim) => Effect.Effect<void>
  }
>()("svc/actors/agent/CarriedBlobs") {
  static readonly layer = Layer.effect(
    CarriedBlobs,
    Effect.gen(function* () {
      const blobs = yield* AgentBlobs
      const server = yield* ServerKeys
      const held = new Map<string, ReadonlyArray<Held>>()
      const nameOf = ({ fence, runId }: Claim) => `${runId} ${fence}`

      const hold = (claim: Claim, opened: Held) => {
        const name = nameOf(claim)
        const others = (held.get(name) ?? []).filter(({ kind }) => kind !== opened.kind)
        held.delete(name)
        held.set(name, [...others, opened])
        for (const oldest of held.keys()) {
          if (held.size <= mostClaims) break
          held.delete(oldest)
        }
      }

      const heldOf = (agentId: AgentId, claim: Claim, kind: Kind, digest: string) =>
        held.get(nameOf(claim))?.find((one) => one.agentId === agentId && one.kind === kind && one.digest === digest)

      const opened = Effect.fnUntraced(function* (
        agentId: AgentId,
        claim: Claim,
        { bytes, digest, kind }: CarriedFile
      ) {
        const { installationId, open } = yield* server.own
        const purpose = fromAgent({ installationId, agentId }, claim, kind)
        const plain = yield* heldContents(openBlob(open, purpose, Stream.make(bytes)), mostUnpackedBytes)
        return { agentId, kind, digest, contents: Redacted.make(plain) }
      })

      const kept = Effect.fnUntraced(function* (
        agentId: AgentId,
        claim: Claim,
        file: CarriedFile
      ): Effect.fn.Return<void, AgentRefusal> {
        const { bytes, digest, kind } = file
        // An earlier file under this digest stays as it is, so these bytes have to be the same.
        if (digestOf(bytes) !== digest)
          return yield* new Rejected({ message: `The ${kind} is not what its digest says.` })
        const part = { from: 0, total: bytes.length, bytes: Stream.make(bytes) }
        const { found, stored } = yield* Effect.all(
          {
            stored: Effect.mapError(blobs.put(claim, kind, digest, part), refusalOf),
            // A file that does not open is refused where it is used.
            found: Effect.option(opened(agentId, claim, file))
          },
          { concurrency: "unbounded" }
        )
        if (!stored.complete) return yield* new Busy({ message: `The ${kind} is not whole.`, retryAfterSeconds: 1 })
        if (found._tag === "Some") hold(claim, found.value)
      })

      return CarriedBlobs.of({
        keep: (agentId, claim, files, named) =>
          Effect.forEach(
            files,
            (file) =>
              named[file.kind] === file.digest
                ? kept(agentId, claim, file)
                : Effect.fail(new Rejected({ message: `The message does not name this ${file.kind}.` })),
            { concurrency: "unbounded", discard: true }
          ),
        open: (agentId, claim, kind, digest) =>
          Effect.suspend(() => {
            const found = heldOf(agentId, claim, kind, digest)
            return found === undefined ? blobs.open(agentId, claim, kind, digest) : Effect.succeed(found.contents)
          }),
        check: (agentId, claim, kind, digest) =>
          Effect.suspend(() =>
            heldOf(agentId, claim, kind, digest) === undefined ? blobs.check(agentId, claim, kind, digest) : Effect.void
          ),
        forget: (claim) => Effect.sync(() => void held.delete(nameOf(claim)))
      })
    })
  )
}
