import { rm, stat } from "node:fs/promises"
import { Context, Effect, FileSystem, Layer, Option, Schema, Stream } from "effect"
import type { JobOffer, RunClaim } from "../../schema/agent/AgentJob.ts"
import type { BlobKind } from "../../schema/agent/Blob.ts"
import { BuildStore } from "../execution/BuildStore.ts"
import { sha256, sha256OfFile } from "../execution/Digest.ts"
import { fileOperation } from "../execution/RunFiles.ts"
import type { BuildReference } from "../execution/RunJob.ts"
import { longestState } from "../execution/StateWatch.ts"
import { SnapshotStore } from "../snapshot/SnapshotStore.ts"
import { AgentParty } from "./AgentParty.ts"
import { heldContents, mostUnpackedFrom, unpackedInMemory } from "./BlobContents.ts"
import { reusedBufferChunks } from "./ReusedBufferChunks.ts"
import type { AgentRunFolder } from "./AgentRunFolder.ts"
import { openBlob, openedInMemory } from "./SealedBlob.ts"
import { ServerConnection } from "./ServerConnection.ts"

/** A file of a job is missing, or its digest differs from the digest in the job. */
export class JobFileUnusable extends Schema.TaggedError<JobFileUnusable>()("JobFileUnusable", {
  message: Schema.String
}) {}

/**
 * Number of snapshots and builds to keep for later Runs, in addition to recently added ones. A single Run must not use more
 * than this number.
 */
const mostKept = 256

const refuseOther = (found: string, wanted: string, what: string) =>
  found === wanted
    ? Effect.void
    : new JobFileUnusable({ message: `The ${what} that the server sent does not match the job.` })

/**
 * The files of jobs on the agent's disk. Fetches missing files after the Run is `accepted`. Keeps snapshots and builds by digest
 * for later Runs, up to a limit. Opens secret files only in memory.
 */
export class JobFiles extends Context.Service<
  JobFiles,
  {
    /** Makes the snapshot and build available to the runner. */
    readonly provide: (
      room: AgentRunFolder,
      offer: JobOffer,
      build: BuildReference | undefined,
      accepted: Effect.Effect<void>
    ) => Effect.Effect<void, unknown>
    /** If the offer contains the file, returns it, opened with the `keys` of the offer's job. */
    readonly secret: (
      room: AgentRunFolder,
      offer: JobOffer,
      keys: ReadonlyArray<CryptoKey>,
      kind: "state" | "plan_file",
      digest: string,
      accepted: Effect.Effect<void>
    ) => Effect.Effect<Uint8Array, unknown>
  }
>()("svc/runner/agent/JobFiles") {
  static readonly layer = Layer.effect(
    JobFiles,
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const line = yield* ServerConnection
      const party = yield* AgentParty
      const snapshots = yield* SnapshotStore
      const builds = yield* BuildStore
      const used: Array<string> = []
      const usedBuilds: Array<string> = []
      const use = (recent: Array<string>, digest: string) =>
        recent.splice(0, recent.length, ...recent.filter((one) => one !== digest).slice(-mostKept), digest)

      const fetched = (room: AgentRunFolder, kind: BlobKind, digest: string) => {
        const target = room.sealed(`fetched-${kind}`)
        return Effect.acquireRelease(Effect.as(line.fetch(room.claim, kind, digest, target), target), (path) =>
          Effect.promise(() => rm(path, { force: true }))
        )
      }

      const fetchedAndOpened = <E>(
        claim: RunClaim,
        kind: Exclude<BlobKind, "snapshot">,
        sealed: Stream.Stream<Uint8Array, E>
      ) => Stream.unwrap(Effect.map(party.opening, (keys) => openBlob(keys, party.received(claim, kind), sealed)))

      const snapshot = Effect.fnUntraced(function* (
        room: AgentRunFolder,
        digest: string,
        accepted: Effect.Effect<void>
      ) {
        use(used, digest)
        if ((yield* Effect.option(snapshots.open(digest)))._tag === "Some") return
        yield* accepted
        const file = yield* fetched(room, "snapshot", digest)
        yield* snapshots.adopt(file, digest)
        // Compare the digest after unpacking, because it is the digest of the contents.
        yield* snapshots.open(digest)
        yield* Effect.ignore(snapshots.cleanUp(new Set(used)))
      }, Effect.scoped)

      const build = Effect.fnUntraced(function* (
        room: AgentRunFolder,
        reference: BuildReference,
        accepted: Effect.Effect<void>
      ) {
        use(usedBuilds, reference.digest)
        if (Option.isSome(yield* builds.find(reference))) return
        yield* builds.cleanUp(new Set(usedBuilds))
        yield* accepted
        const sealed = yield* fetched(room, "build", reference.digest)
        const path = room.sealed("opened-build")
        const contents = fetchedAndOpened(room.claim, "build", reusedBufferChunks(files, sealed))
        yield* Stream.run(contents, files.sink(path, { mode: 0o600 }))
        yield* refuseOther(yield* sha256OfFile(path, "read the build"), reference.digest, "build")
        const { size } = yield* fileOperation("look at the build", () => stat(path))
        yield* builds.adopt({ digest: reference.digest, sizeBytes: size, path })
      }, Effect.scoped)

      const secret = Effect.fnUntraced(function* (
        room: AgentRunFolder,
        offer: JobOffer,
        keys: ReadonlyArray<CryptoKey>,
        kind: "state" | "plan_file",
        digest: string,
        accepted: Effect.Effect<void>
      ) {
        const carried = offer.files?.find((file) => file.kind === kind && file.digest === digest)
        const contents =
          carried === undefined
            ? heldContents(
                fetchedAndOpened(
                  room.claim,
                  kind,
                  reusedBufferChunks(files, yield* Effect.andThen(accepted, fetched(room, kind, digest)))
                ),
                longestState
              )
            : Effect.flatMap(openedInMemory(keys, party.received(room.claim, kind), carried.bytes), (bytes) =>
                unpackedInMemory(bytes, mostUnpackedFrom(bytes.length, longestState))
              )
        const plain = yield* contents
        yield* refuseOther(sha256(plain), digest, kind === "state" ? "state" : "plan file")
        return plain
      }, Effect.scoped)

      return JobFiles.of({
        provide: Effect.fnUntraced(function* (room, offer, reference, accepted) {
          yield* snapshot(room, offer.snapshot, accepted)
          if (reference !== undefined) yield* build(room, reference, accepted)
        }),
        secret
      })
    })
  )
}
