import { Context, Effect, FileSystem, Layer, Option, Redacted, Stream } from "effect"
import { packContents } from "../../../runner/agent/BlobContents.ts"
import { sealBlob, sealedBodyBytes } from "../../../runner/agent/SealedBlob.ts"
import { sealFor } from "../../../runner/agent/SealedMessage.ts"
import { BuildStore } from "../../../runner/execution/BuildStore.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import type { RunClaim } from "../../../schema/agent/AgentJob.ts"
import type { Gone } from "../../../schema/agent/AgentRefusal.ts"
import type { BlobKind } from "../../../schema/agent/Blob.ts"
import { storedBuild } from "../../ledger/build/BuildColumns.ts"
import { RunPlans } from "../execution/RunPlans.ts"
import type { AgentSession } from "../agent-pool/AgentSessions.ts"
import { sealingKey, ServerKeys } from "../agent-pool/ServerKeys.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { AgentClaims } from "./AgentClaims.ts"
import { blobUse, digestOf, toAgent } from "./JobSecrets.ts"

type Claim = typeof RunClaim.Type
type Kind = typeof BlobKind.Type

/** A response that the agent can resume at any byte. */
export interface SentFile {
  readonly totalBytes: number
  readonly bytes: (from: number) => Stream.Stream<Uint8Array>
}

/** Drops the first `from` bytes of a stream. */
const after = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>, from: number) =>
  from === 0
    ? bytes
    : bytes.pipe(
        Stream.mapAccum(
          () => from,
          (skip, chunk: Uint8Array) => [
            Math.max(0, skip - chunk.length),
            [chunk.subarray(Math.min(skip, chunk.length))]
          ]
        ),
        Stream.filter(({ length }) => length > 0)
      )

const pieceBytes = 1024 * 1024

const inPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.fromIterable(
    (function* () {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
    })()
  )

/**
 * Sends agents the files of their jobs. An agent can fetch only files of a Run that it holds. All files except the snapshot are
 * sealed for that Run.
 */
export class AgentFiles extends Context.Service<
  AgentFiles,
  {
    readonly find: (
      session: AgentSession,
      claim: Claim,
      kind: Kind,
      digest: string
    ) => Effect.Effect<Option.Option<SentFile>, Gone>
  }
>()("svc/actors/running/agent/AgentFiles") {
  static readonly layer = Layer.effect(
    AgentFiles,
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const claims = yield* AgentClaims
      const server = yield* ServerKeys
      const snapshots = yield* SnapshotStore
      const builds = yield* BuildStore
      const sources = yield* SourceStore
      const states = yield* StateVersions
      const plans = yield* RunPlans

      const sizeOf = (path: string) => Effect.orDie(Effect.map(files.stat(path), ({ size }) => Number(size)))

      const snapshotOf = Effect.fnUntraced(function* (run: RunRow, digest: string) {
        const snapshot = yield* sources.findSnapshot(run.source_snapshot_id)
        if (snapshot?.archive_digest !== digest) return Option.none<SentFile>()
        const path = yield* snapshots.archive(digest)
        if (Option.isNone(path)) return Option.none<SentFile>()
        const totalBytes = yield* sizeOf(path.value)
        return Option.some<SentFile>({
          totalBytes,
          bytes: (from) => Stream.orDie(files.stream(path.value, { offset: from }))
        })
      })

      const sealed = Effect.fnUntraced(function* (
        { agent }: AgentSession,
        claim: Claim,
        kind: Exclude<Kind, "snapshot">,
        digest: string,
        size: number,
        contents: Stream.Stream<Uint8Array>,
        contentDigest: string
      ) {
        const { derived, installationId } = yield* server.own
        const key = yield* sealingKey(agent.seal_key)
        const purpose = toAgent({ installationId, agentId: agent.id }, claim, kind)
        const dataKey = derived(blobUse(purpose, digest, contentDigest))
        // The header differs each time but always has the same length, so offsets remain valid.
        const header = yield* sealFor(key, purpose, dataKey)
        return Option.some<SentFile>({
          totalBytes: header.length + 1 + sealedBodyBytes(size),
          bytes: (from) => after(sealBlob(key, purpose, contents, dataKey), from)
        })
      })

      const secretOf = Effect.fnUntraced(function* (run: RunRow, kind: "state" | "plan_file") {
        if (kind === "plan_file") {
          const saved = yield* plans.load(run.workspace_id, run.plan_run_id)
          return saved === undefined ? undefined : Redacted.value(saved.planFile)
        }
        const base = yield* states.find(run.base_state_version_id)
        return base === undefined ? undefined : Redacted.value(yield* states.open(base))
      })

      const buildOf = Effect.fnUntraced(function* (run: RunRow) {
        if (run.plan_run_id !== null) return (yield* plans.load(run.workspace_id, run.plan_run_id))?.build
        const base = yield* states.find(run.base_state_version_id)
        return base === undefined ? undefined : storedBuild(base)
      })

      const find = Effect.fn("AgentFiles.find")(function* (
        session: AgentSession,
        claim: Claim,
        kind: Kind,
        digest: string
      ): Effect.fn.Return<Option.Option<SentFile>, Gone> {
        const { run } = yield* claims.held(session, claim)
        switch (kind) {
          case "snapshot":
            return yield* snapshotOf(run, digest)
          case "build": {
            const build = yield* buildOf(run)
            const archive = build?.digest === digest ? yield* builds.find(build) : Option.none()
            if (Option.isNone(archive)) return Option.none()
            const size = yield* sizeOf(archive.value.path)
            const archived = Stream.orDie(files.stream(archive.value.path))
            return yield* sealed(session, claim, kind, digest, size, archived, digest)
          }
          case "state":
          case "plan_file": {
            const bytes = yield* secretOf(run, kind)
            if (bytes === undefined || digestOf(bytes) !== digest) return Option.none()
            const packed = yield* packContents(bytes)
            return yield* sealed(session, claim, kind, digest, packed.length, inPieces(packed), digestOf(packed))
          }
          default:
            return Option.none()
        }
      })

      return AgentFiles.of({ find })
    })
  )
}
