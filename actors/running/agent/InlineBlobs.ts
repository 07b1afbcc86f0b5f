import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { RunClaim } from "../../../schema/agent/AgentJob.ts"
import { type AgentRefusal, Busy, Rejected } from "../../../schema/agent/AgentRefusal.ts"
import { InlineFile } from "../../../schema/agent/InlineFile.ts"
import type { AgentSession } from "../agent-pool/AgentSessions.ts"
import { AgentBlobs, type BlobRefused } from "./AgentBlobs.ts"
import { digestOf } from "./JobSecrets.ts"
import { Digest } from "../../../schema/agent/Blob.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { table } from "../../base/database/Table.ts"

/** A sealed file that arrived inside a result. */
export const InlineFileRow = table("agent_carried_files", {
  run_id: RunId,
  fence: Schema.Int,
  kind: InlineFile.fields.kind,
  digest: Digest,
  bytes: Schema.Uint8Array
})

type Claim = typeof RunClaim.Type
type Kind = InlineFile["kind"]
type AgentId = AgentSession["agent"]["id"]

/** Digests of the files that a message refers to, by kind. */
type Named = Readonly<Partial<Record<Kind, string | undefined>>>

/** Maximum unpacked size of a cached file, in bytes. Larger files are decrypted on each use. */
const mostHeldBytes = 1024 * 1024
/** Number of claims whose files are cached. Files of older claims are read from the database. */
const mostClaims = 16

/** A file that arrived inside a message. Includes its contents if they are small. */
interface Taken extends InlineFile {
  readonly contents?: Redacted.Redacted<Uint8Array>
}

/** The files of a message, both inline and separately uploaded. */
export interface MessageFiles {
  readonly open: (kind: Kind, digest: string) => Effect.Effect<Redacted.Redacted<Uint8Array>, BlobRefused>
  /** Checks that the whole file can be decrypted. */
  readonly check: (kind: Kind, digest: string) => Effect.Effect<void, BlobRefused>
  /** Stores the inline files of the message. Call it in the transaction that stores the record referring to them. */
  readonly store: Effect.Effect<void>
}

/** Maps a refused file to the response for the agent. */
export const refusalOf = ({ message, reason }: BlobRefused): AgentRefusal =>
  reason === "storage" ? new Busy({ message, retryAfterSeconds: 10 }) : new Rejected({ message })

/**
 * Called after a restore. A plan in the backup may have been applied after the backup was made, so no restored plan may
 * become ready for approval.
 */
export const endCarriedPlans = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM agent_carried_files WHERE NOT EXISTS (SELECT 1 FROM agent_runs r
    WHERE r.run_id = agent_carried_files.run_id AND r.fence = agent_carried_files.fence AND r.kind = 'apply')`
})

/**
 * Small files that agents send inside messages. The transaction that stores a result also stores its files as rows, which
 * are kept until the Run is settled. A cache avoids decrypting the files again. A state needs no row, because the request
 * that contains the state also saves it.
 */
export class InlineBlobs extends Context.Service<
  InlineBlobs,
  {
    /** Collects the files of a message. Fails if the message contains an unreferenced file. */
    readonly take: (
      agentId: AgentId,
      claim: Claim,
      files: ReadonlyArray<InlineFile>,
      named: Named
    ) => Effect.Effect<MessageFiles, AgentRefusal>
    /** Decrypts a file of a stored result, whether it is inline or was uploaded separately. */
    readonly open: (
      agentId: AgentId,
      claim: Claim,
      kind: Kind,
      digest: string
    ) => Effect.Effect<Redacted.Redacted<Uint8Array>, BlobRefused>
    /** Returns true if a stored result includes this file. */
    readonly isStored: (claim: Claim, kind: string, digest: string) => Effect.Effect<boolean>
    /** Removes the stored files of a claim. */
    readonly remove: (claim: Claim) => Effect.Effect<void>
    /** Removes the stored files of claims that ended before `before`. */
    readonly removeEnded: (before: string) => Effect.Effect<void>
  }
>()("svc/actors/running/agent/InlineBlobs") {
  static readonly layer = Layer.effect(
    InlineBlobs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const blobs = yield* AgentBlobs
      const held = new Map<string, ReadonlyArray<Taken>>()
      const nameOf = ({ fence, runId }: Claim) => `${runId} ${fence}`

      const hold = (claim: Claim, taken: ReadonlyArray<Taken>) => {
        held.set(nameOf(claim), taken)
        for (const oldest of held.keys()) {
          if (held.size <= mostClaims) break
          held.delete(oldest)
        }
      }

      const taken = Effect.fnUntraced(function* (
        agentId: AgentId,
        claim: Claim,
        file: InlineFile
      ): Effect.fn.Return<Taken, AgentRefusal> {
        const { bytes, digest, kind } = file
        if (digestOf(bytes) !== digest)
          return yield* new Rejected({ message: `The ${kind} does not match its digest.` })
        // Decryption errors are ignored here, because the file is refused when it is used.
        const contents = yield* Effect.option(
          blobs.open(agentId, claim, kind, digest, { bytes, mostUnpackedBytes: mostHeldBytes })
        )
        return { ...file, ...(contents._tag === "Some" ? { contents: contents.value } : {}) }
      })

      const isOf = (kind: string, digest: string) => (file: InlineFile) => file.kind === kind && file.digest === digest

      const rowOf = Effect.fnUntraced(function* ({ fence, runId }: Claim, kind: string, digest: string) {
        const [row] = yield* Effect.orDie(InlineFileRow.rows(sql)`SELECT * FROM agent_carried_files
          WHERE run_id = ${runId} AND fence = ${fence} AND kind = ${kind} AND digest = ${digest}`)
        return row
      })

      const take = Effect.fn("InlineBlobs.take")(function* (
        agentId: AgentId,
        claim: Claim,
        files: ReadonlyArray<InlineFile>,
        named: Named
      ): Effect.fn.Return<MessageFiles, AgentRefusal> {
        const all = yield* Effect.forEach(
          files,
          (file) =>
            named[file.kind] === file.digest
              ? taken(agentId, claim, file)
              : Effect.fail(new Rejected({ message: `The message does not name this ${file.kind}.` })),
          { concurrency: "unbounded" }
        )
        return {
          open: (kind, digest) => {
            const own = all.find(isOf(kind, digest))
            return own?.contents === undefined
              ? blobs.open(agentId, claim, kind, digest, own)
              : Effect.succeed(own.contents)
          },
          check: (kind, digest) => {
            const own = all.find(isOf(kind, digest))
            return own?.contents === undefined ? blobs.check(agentId, claim, kind, digest, own) : Effect.void
          },
          store: Effect.forEach(
            all,
            ({ bytes, digest, kind }) =>
              sql`INSERT INTO agent_carried_files ${InlineFileRow.values(sql, { run_id: claim.runId, fence: claim.fence, kind, digest, bytes })}`,
            { discard: true }
          ).pipe(Effect.orDie, Effect.andThen(Effect.sync(() => hold(claim, all))))
        }
      })

      const open = Effect.fn("InlineBlobs.open")(function* (
        agentId: AgentId,
        claim: Claim,
        kind: Kind,
        digest: string
      ) {
        const known = held.get(nameOf(claim))?.find(isOf(kind, digest))
        if (known?.contents !== undefined) return known.contents
        return yield* blobs.open(agentId, claim, kind, digest, known ?? (yield* rowOf(claim, kind, digest)))
      })

      return InlineBlobs.of({
        take,
        open,
        isStored: (claim, kind, digest) => Effect.map(rowOf(claim, kind, digest), (row) => row !== undefined),
        remove: (claim) =>
          Effect.suspend(() => {
            held.delete(nameOf(claim))
            return Effect.asVoid(
              Effect.orDie(
                sql`DELETE FROM agent_carried_files WHERE run_id = ${claim.runId} AND fence = ${claim.fence}`
              )
            )
          }),
        removeEnded: (before) =>
          Effect.asVoid(
            Effect.orDie(sql`DELETE FROM agent_carried_files WHERE EXISTS (SELECT 1 FROM agent_runs r
              WHERE r.run_id = agent_carried_files.run_id AND r.fence = agent_carried_files.fence AND r.ended_at < ${before})`)
          )
      })
    })
  )
}
