import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { RunClaim } from "../../schema/agent/AgentJob.ts"
import { type AgentRefusal, Busy, Rejected } from "../../schema/agent/AgentRefusal.ts"
import type { CarriedFile } from "../../schema/agent/CarriedFile.ts"
import type { AgentSession } from "../pool/AgentSessions.ts"
import { AgentBlobs, type BlobRefused } from "./AgentBlobs.ts"
import { CarriedFileRow } from "./CarriedFileRow.ts"
import { digestOf } from "./JobSecrets.ts"

type Claim = typeof RunClaim.Type
type Kind = CarriedFile["kind"]
type AgentId = AgentSession["agent"]["id"]

/** What a message says of its files, by kind. */
type Named = Readonly<Partial<Record<Kind, string | undefined>>>

/** What unpacks to more is opened where it is needed. */
const mostHeldBytes = 1024 * 1024
/** The files of so many claims are held; those of older ones are read from the database. */
const mostClaims = 16

/** A file of a claim, the newest of its kind; with its contents where they are small. */
interface Held {
  readonly agentId: AgentId
  readonly file: CarriedFile
  readonly contents?: Redacted.Redacted<Uint8Array>
}

/** What an agent sent and cannot be taken, as it is answered. */
export const refusalOf = ({ message, reason }: BlobRefused): AgentRefusal =>
  reason === "storage" ? new Busy({ message, retryAfterSeconds: 10 }) : new Rejected({ message })

/**
 * The small files that come within messages. They are opened as they arrive, and held until their Run is settled. Those of a result are rows, written
 * in the transaction that stores it; a state is saved in the request that brings it, and needs no other place.
 */
export class CarriedBlobs extends Context.Service<
  CarriedBlobs,
  {
    /** Holds the files of a message in memory. Those that the message does not name are refused. */
    readonly take: (
      agentId: AgentId,
      claim: Claim,
      files: ReadonlyArray<CarriedFile>,
      named: Named
    ) => Effect.Effect<void, AgentRefusal>
    /** Stores the files of a result with it. */
    readonly store: (claim: Claim, files: ReadonlyArray<CarriedFile>) => Effect.Effect<void>
    /** Opens a file of this claim, wherever it is. */
    readonly open: (
      agentId: AgentId,
      claim: Claim,
      kind: Kind,
      digest: string
    ) => Effect.Effect<Redacted.Redacted<Uint8Array>, BlobRefused>
    /** Whether a file of this claim opens, to its end. */
    readonly check: (agentId: AgentId, claim: Claim, kind: Kind, digest: string) => Effect.Effect<void, BlobRefused>
    /** Forgets what is held. */
    readonly forget: (claim: Claim) => Effect.Effect<void>
    /** Removes what is stored. */
    readonly remove: (claim: Claim) => Effect.Effect<void>
    /** Removes what is stored of every claim that ended before. */
    readonly removeEnded: (before: string) => Effect.Effect<void>
  }
>()("svc/actors/agent/CarriedBlobs") {
  static readonly layer = Layer.effect(
    CarriedBlobs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const blobs = yield* AgentBlobs
      const held = new Map<string, ReadonlyArray<Held>>()
      const nameOf = ({ fence, runId }: Claim) => `${runId} ${fence}`

      const hold = (claim: Claim, taken: Held) => {
        const name = nameOf(claim)
        const others = (held.get(name) ?? []).filter(({ file }) => file.kind !== taken.file.kind)
        held.delete(name)
        held.set(name, [...others, taken])
        for (const oldest of held.keys()) {
          if (held.size <= mostClaims) break
          held.delete(oldest)
        }
      }

      const take = Effect.fnUntraced(function* (
        agentId: AgentId,
        claim: Claim,
        file: CarriedFile
      ): Effect.fn.Return<void, AgentRefusal> {
        const { bytes, digest, kind } = file
        if (digestOf(bytes) !== digest)
          return yield* new Rejected({ message: `The ${kind} is not what its digest says.` })
        // A file that does not open is refused where it is used.
        const contents = yield* Effect.option(
          blobs.open(agentId, claim, kind, digest, { bytes, mostUnpackedBytes: mostHeldBytes })
        )
        hold(claim, { agentId, file, ...(contents._tag === "Some" ? { contents: contents.value } : {}) })
      })

      const found = Effect.fnUntraced(function* (agentId: AgentId, claim: Claim, kind: Kind, digest: string) {
        const taken = held
          .get(nameOf(claim))
          ?.find((one) => one.agentId === agentId && one.file.kind === kind && one.file.digest === digest)
        if (taken !== undefined) return { bytes: taken.file.bytes, contents: taken.contents }
        const [row] = yield* Effect.orDie(CarriedFileRow.rows(sql)`SELECT * FROM agent_carried_files
          WHERE run_id = ${claim.runId} AND fence = ${claim.fence} AND kind = ${kind} AND digest = ${digest}`)
        return row === undefined ? undefined : { bytes: row.bytes, contents: undefined }
      })

      const open = Effect.fn("CarriedBlobs.open")(function* (
        agentId: AgentId,
        claim: Claim,
        kind: Kind,
        digest: string
      ) {
        const carried = yield* found(agentId, claim, kind, digest)
        if (carried?.contents !== undefined) return carried.contents
        return yield* blobs.open(agentId, claim, kind, digest, carried)
      })

      const check = Effect.fn("CarriedBlobs.check")(function* (
        agentId: AgentId,
        claim: Claim,
        kind: Kind,
        digest: string
      ) {
        const carried = yield* found(agentId, claim, kind, digest)
        if (carried?.contents === undefined) yield* blobs.check(agentId, claim, kind, digest, carried)
      })

      return CarriedBlobs.of({
        take: (agentId, claim, files, named) =>
          Effect.forEach(
            files,
            (file) =>
              named[file.kind] === file.digest
                ? take(agentId, claim, file)
                : Effect.fail(new Rejected({ message: `The message does not name this ${file.kind}.` })),
            { concurrency: "unbounded", discard: true }
          ),
        store: ({ fence, runId }, files) =>
          Effect.forEach(
            files,
            ({ bytes, digest, kind }) =>
              Effect.orDie(
                sql`INSERT INTO agent_carried_files ${CarriedFileRow.values(sql, { run_id: runId, fence, kind, digest, bytes })}`
              ),
            { discard: true }
          ),
        open,
        check,
        forget: (claim) => Effect.sync(() => void held.delete(nameOf(claim))),
        remove: ({ fence, runId }) =>
          Effect.asVoid(
            Effect.orDie(sql`DELETE FROM agent_carried_files WHERE run_id = ${runId} AND fence = ${fence}`)
          ),
        removeEnded: (before) =>
          Effect.asVoid(
            Effect.orDie(sql`DELETE FROM agent_carried_files WHERE EXISTS (SELECT 1 FROM agent_runs r
              WHERE r.run_id = agent_carried_files.run_id AND r.fence = agent_carried_files.fence AND r.ended_at < ${before})`)
          )
      })
    })
  )
}
