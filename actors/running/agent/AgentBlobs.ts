import { createHash } from "node:crypto"
import { Context, Effect, FileSystem, Layer, Option, Path, RcMap, Redacted, Schema, Semaphore, Stream } from "effect"
import {
  heldContents,
  mostUnpackedFrom,
  unpackedContents,
  unpackedInMemory
} from "../../../runner/agent/BlobContents.ts"
import { reusedBufferChunks } from "../../../runner/agent/ReusedBufferChunks.ts"
import { openBlob, openedInMemory } from "../../../runner/agent/SealedBlob.ts"
import type { NotSealedForThis } from "../../../runner/agent/SealedMessage.ts"
import type { RunClaim } from "../../../schema/agent/AgentJob.ts"
import type { BlobKind, StoredBytes } from "../../../schema/agent/Blob.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import type { AgentSession } from "../agent-pool/AgentSessions.ts"
import { ServerKeys } from "../agent-pool/ServerKeys.ts"
import { idOrNull } from "../../base/Identity.ts"
import { SharedBlobs } from "./SharedBlobs.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"
import { fromAgent } from "./JobSecrets.ts"

type Claim = typeof RunClaim.Type
/** Kinds of blobs that agents upload. Snapshots are excluded, because agents only download them. */
type Kind = Exclude<typeof BlobKind.Type, "snapshot">

/**
 * Error for a refused blob: the blob is too large, does not match its digest, is missing or damaged, or could not be stored.
 */
export class BlobRefused extends Schema.TaggedError<BlobRefused>()("BlobRefused", {
  reason: Schema.Literals(["too_large", "wrong_digest", "missing", "damaged", "storage"]),
  message: Schema.String
}) {}

const mebibyte = 1024 * 1024

/** Maximum sealed size of each kind. */
export const mostBytes: Readonly<Record<Kind, number>> = {
  build: 2048 * mebibyte,
  state: 512 * mebibyte,
  plan_file: 512 * mebibyte,
  // An outcome may include a state that an earlier process of the apply left behind.
  outcome: 1024 * mebibyte,
  left_over: 1024 * mebibyte
}

/** Maximum unpacked size of each kind. A state embedded in JSON is a third larger. Builds are not packed. */
const mostUnpacked: Readonly<Record<Kind, number>> = {
  build: mostBytes.build,
  state: 512 * mebibyte,
  plan_file: 512 * mebibyte,
  outcome: 704 * mebibyte,
  left_over: 704 * mebibyte
}

/**
 * Maximum number of stored blobs of one kind per claim. The limit for states is two, so that the previous state is available
 * until the next state is complete.
 */
const mostKept = (kind: Kind) => (kind === "state" ? 2 : 1)

/** A sealed blob that is in memory instead of in a file. */
export interface BlobInMemory {
  readonly bytes: Uint8Array
  /** Maximum unpacked size. Larger blobs are refused. */
  readonly mostUnpackedBytes?: number
}

/** A part of a blob. `from` is the offset of its first byte. */
export interface BlobPart<E> {
  readonly from: number
  readonly total: number
  readonly bytes: Stream.Stream<Uint8Array, E>
}

const stored = (storedBytes: number, complete: boolean): StoredBytes => ({ storedBytes, complete })

/**
 * Stores the sealed blobs that agents upload, in files below the data folder, until their Run is settled. Blobs arrive in parts,
 * and each part is on disk before it is acknowledged.
 */
export class AgentBlobs extends Context.Service<
  AgentBlobs,
  {
    readonly put: <E>(
      claim: Claim,
      kind: Kind,
      digest: string,
      part: BlobPart<E>
    ) => Effect.Effect<StoredBytes, BlobRefused | E>
    readonly isComplete: (claim: Claim, kind: Kind, digest: string) => Effect.Effect<boolean>
    /** Checks that a complete blob can be decrypted to its end. Does not keep the blob in memory. */
    readonly check: (
      agentId: AgentSession["agent"]["id"],
      claim: Claim,
      kind: Kind,
      digest: string,
      inMemory?: BlobInMemory
    ) => Effect.Effect<void, BlobRefused>
    /** Decrypts a complete blob that this agent sealed for the server. */
    readonly open: (
      agentId: AgentSession["agent"]["id"],
      claim: Claim,
      kind: Kind,
      digest: string,
      inMemory?: BlobInMemory
    ) => Effect.Effect<Redacted.Redacted<Uint8Array>, BlobRefused>
    readonly remove: (claim: Claim, kind: Kind, digest: string) => Effect.Effect<void>
    readonly removeAll: (claim: Claim) => Effect.Effect<void>
    /** Decrypts a complete blob into a file. Does not load the whole blob into memory. */
    readonly openInto: (
      agentId: AgentSession["agent"]["id"],
      claim: Claim,
      kind: Kind,
      digest: string
    ) => Effect.Effect<{ readonly path: string; readonly digest: string; readonly sizeBytes: number }, BlobRefused>
    /** Lists the claims that have stored files. */
    readonly claims: Effect.Effect<ReadonlyArray<Claim>>
    /** Returns the time, in milliseconds, at which the last part of any blob of the claim arrived; 0 if none has arrived. */
    readonly receivedAt: (claim: Claim) => Effect.Effect<number>
    /** Removes the files of all claims except `kept`. */
    readonly sweep: (kept: ReadonlyArray<Claim>) => Effect.Effect<void>
  }
>()("svc/actors/running/agent/AgentBlobs") {
  static readonly layer = Layer.effect(
    AgentBlobs,
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const { runsFolder } = yield* RunSettings
      const server = yield* ServerKeys
      const shared = yield* SharedBlobs
      const root = path.join(path.dirname(runsFolder), "agent-blobs")
      // One lock for each file. A lock exists as long as an upload holds it or waits for it.
      const writing = yield* RcMap.make({ lookup: (_file: string) => Semaphore.make(1) })

      const nameOf = ({ fence, runId }: Claim) => `${runId}-${fence}`
      const folderOf = (claim: Claim) => path.join(root, nameOf(claim))
      const fileOf = (claim: Claim, kind: Kind, digest: string) =>
        path.join(folderOf(claim), `${kind}-${digest.slice("sha256:".length)}`)

      /** Returns the path of the file in which an incomplete blob is collected. */
      const partOf = (claim: Claim, kind: Kind, digest: string) => `${fileOf(claim, kind, digest)}.part`

      const refused = (reason: BlobRefused["reason"], message: string) => new BlobRefused({ reason, message })
      const unread = () => refused("storage", "The server cannot read the blob now.")
      const onDisk = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.mapError(effect, () => refused("storage", "The server could not store the blob. Is its disk full?"))

      const removeTree = (target: string) => Effect.ignore(files.remove(target, { recursive: true, force: true }))

      const sizeOf = (file: string) =>
        files.stat(file).pipe(
          Effect.map(({ size }) => Number(size)),
          Effect.orElseSucceed(() => 0)
        )

      const changedAt = (file: string) =>
        files.stat(file).pipe(
          Effect.map(({ mtime }) => Option.match(mtime, { onNone: () => 0, onSome: Number })),
          Effect.orElseSucceed(() => 0)
        )

      const fileDigest = Effect.fnUntraced(function* (file: string) {
        const hash = createHash("sha256")
        yield* Stream.runForEach(reusedBufferChunks(files, file), (chunk) => Effect.sync(() => void hash.update(chunk)))
        return `sha256:${hash.digest("hex")}`
      })

      /** Appends the bytes that the file is missing, and flushes them to disk before the part is acknowledged. */
      const append = Effect.fnUntraced(function* <E>(file: string, has: number, { bytes, from, total }: BlobPart<E>) {
        const handle = yield* onDisk(files.open(file, { flag: "a", mode: 0o600 }))
        let skip = has - from
        let size = has
        yield* Stream.runForEach(bytes, (chunk) => {
          const rest = skip >= chunk.length ? chunk.subarray(chunk.length) : chunk.subarray(skip)
          skip = Math.max(0, skip - chunk.length)
          size += rest.length
          if (size > total) return Effect.fail(refused("too_large", "More bytes than announced."))
          return rest.length === 0 ? Effect.void : onDisk(handle.writeAll(rest))
        }).pipe(Effect.ensuring(Effect.ignore(handle.sync)))
        yield* onDisk(handle.sync)
        return size
      }, Effect.scoped)

      /** Removes the oldest blobs of a kind, to make room for a new one. */
      const makeRoom = Effect.fnUntraced(function* (claim: Claim, kind: Kind, file: string) {
        const names = yield* onDisk(files.readDirectory(folderOf(claim)))
        const others = names
          .filter((name) => name.startsWith(`${kind}-`))
          .map((name) => path.join(folderOf(claim), name))
          .filter((one) => !one.startsWith(file))
        const aged = yield* Effect.forEach(others, (one) => Effect.map(changedAt(one), (at) => ({ one, at })))
        const old = aged.toSorted((first, second) => second.at - first.at).slice(mostKept(kind) - 1)
        for (const { one } of old) yield* removeTree(one)
      })

      const put = Effect.fn("AgentBlobs.put")(function* <E>(
        claim: Claim,
        kind: Kind,
        digest: string,
        part: BlobPart<E>
      ): Effect.fn.Return<StoredBytes, BlobRefused | E> {
        const { from, total } = part
        if (total > mostBytes[kind]) {
          return yield* refused("too_large", `A ${kind} may have ${mostBytes[kind]} bytes, and this one has ${total}.`)
        }
        const file = fileOf(claim, kind, digest)
        const upload = Effect.gen(function* () {
          if (yield* onDisk(files.exists(file))) {
            yield* onDisk(shared.publish({ claim, kind, digest }, file))
            return stored(yield* sizeOf(file), true)
          }
          yield* onDisk(files.makeDirectory(folderOf(claim), { recursive: true, mode: 0o700 }))
          const partial = partOf(claim, kind, digest)
          const has = yield* sizeOf(partial)
          if (has === 0) yield* makeRoom(claim, kind, file)
          if (from > has) return stored(has, false)
          const size = yield* append(partial, has, part)
          if (size < total) return stored(size, false)
          if ((yield* onDisk(fileDigest(partial))) !== digest) {
            yield* Effect.ignore(files.remove(partial))
            return yield* refused("wrong_digest", "The blob does not match its digest. Start again.")
          }
          yield* onDisk(files.rename(partial, file))
          yield* onDisk(shared.publish({ claim, kind, digest }, file))
          return stored(size, true)
        })
        const held = RcMap.get(writing, file)
        return yield* Effect.scoped(Effect.flatMap(held, (lock) => lock.withPermits(1)(upload)))
      })

      /** Returns true if the blob is complete. If another server received it, fetches that server's copy. */
      const isPresent = Effect.fnUntraced(function* (claim: Claim, kind: Kind, digest: string) {
        const file = fileOf(claim, kind, digest)
        if (yield* files.exists(file)) return true
        if (!(yield* shared.has({ claim, kind, digest }))) return false
        yield* files.makeDirectory(folderOf(claim), { recursive: true, mode: 0o700 })
        const fetched = `${file}.fetched`
        yield* shared.fetch({ claim, kind, digest }, fetched)
        if ((yield* fileDigest(fetched)) !== digest) return false
        yield* files.rename(fetched, file)
        return true
      })

      const isComplete = (claim: Claim, kind: Kind, digest: string) =>
        Effect.orElseSucceed(isPresent(claim, kind, digest), () => false)

      const refusedAs = (error: BlobRefused | NotSealedForThis) =>
        error._tag === "NotSealedForThis" ? refused("damaged", error.message) : error

      const sealedBy = (agentId: AgentSession["agent"]["id"], claim: Claim, kind: Kind) =>
        Effect.map(server.own, ({ installationId, open: keys }) => ({
          keys,
          purpose: fromAgent({ installationId, agentId }, claim, kind)
        }))

      const openedInline = Effect.fnUntraced(function* (
        agentId: AgentSession["agent"]["id"],
        claim: Claim,
        kind: Kind,
        { bytes }: BlobInMemory
      ) {
        const { keys, purpose } = yield* sealedBy(agentId, claim, kind)
        return yield* Effect.mapError(openedInMemory(keys, purpose, bytes), refusedAs)
      })

      const opened = Effect.fnUntraced(function* (
        agentId: AgentSession["agent"]["id"],
        claim: Claim,
        kind: Kind,
        digest: string
      ) {
        const file = fileOf(claim, kind, digest)
        if (!(yield* Effect.mapError(isPresent(claim, kind, digest), unread)))
          return yield* refused("missing", `The ${kind} was not put.`)
        const { keys, purpose } = yield* sealedBy(agentId, claim, kind)
        return openBlob(keys, purpose, reusedBufferChunks(files, file)).pipe(
          Stream.mapError((error) => (error._tag === "NotSealedForThis" ? refused("damaged", error.message) : unread()))
        )
      })

      /** Maximum unpacked size of this blob. */
      const mostOf = (claim: Claim, kind: Kind, digest: string, inMemory: BlobInMemory | undefined) =>
        Effect.map(
          inMemory === undefined ? sizeOf(fileOf(claim, kind, digest)) : Effect.succeed(inMemory.bytes.length),
          (sealedBytes) =>
            Math.min(
              inMemory?.mostUnpackedBytes ?? Number.POSITIVE_INFINITY,
              mostUnpackedFrom(sealedBytes, mostUnpacked[kind])
            )
        )

      const check = Effect.fn("AgentBlobs.check")(function* (
        agentId: AgentSession["agent"]["id"],
        claim: Claim,
        kind: Kind,
        digest: string,
        inMemory?: BlobInMemory
      ) {
        const packed =
          inMemory === undefined
            ? yield* opened(agentId, claim, kind, digest)
            : Stream.fromEffect(openedInline(agentId, claim, kind, inMemory))
        const contents = unpackedContents(packed, yield* mostOf(claim, kind, digest, inMemory))
        yield* Effect.mapError(Stream.runDrain(contents), refusedAs)
      })

      const open = Effect.fn("AgentBlobs.open")(function* (
        agentId: AgentSession["agent"]["id"],
        claim: Claim,
        kind: Kind,
        digest: string,
        inMemory?: BlobInMemory
      ) {
        const most = yield* mostOf(claim, kind, digest, inMemory)
        const contents =
          inMemory === undefined
            ? heldContents(yield* opened(agentId, claim, kind, digest), most)
            : Effect.flatMap(openedInline(agentId, claim, kind, inMemory), (packed) => unpackedInMemory(packed, most))
        return Redacted.make(yield* Effect.mapError(contents, refusedAs))
      })

      const openInto = Effect.fn("AgentBlobs.openInto")(function* (
        agentId: AgentSession["agent"]["id"],
        claim: Claim,
        kind: Kind,
        digest: string
      ) {
        const target = `${fileOf(claim, kind, digest)}.open`
        const hash = createHash("sha256")
        let sizeBytes = 0
        const bytes = (yield* opened(agentId, claim, kind, digest)).pipe(
          Stream.tap((chunk) =>
            Effect.sync(() => {
              hash.update(chunk)
              sizeBytes += chunk.length
            })
          )
        )
        yield* Stream.run(bytes, files.sink(target, { flag: "w", mode: 0o600 })).pipe(
          Effect.mapError((error) =>
            error._tag === "BlobRefused" ? error : refused("storage", "The blob could not be stored.")
          )
        )
        return { path: target, digest: `sha256:${hash.digest("hex")}`, sizeBytes }
      })

      const sweep = Effect.fn("AgentBlobs.sweep")(function* (kept: ReadonlyArray<Claim>) {
        const names = new Set(kept.map(nameOf))
        for (const name of yield* Effect.orElseSucceed(files.readDirectory(root), () => [])) {
          if (!names.has(name)) yield* removeTree(path.join(root, name))
        }
      })

      const receivedAt = Effect.fnUntraced(function* (claim: Claim) {
        const names = yield* Effect.orElseSucceed(files.readDirectory(folderOf(claim)), () => [])
        const times = yield* Effect.forEach(names, (name) => changedAt(path.join(folderOf(claim), name)))
        return Math.max(0, ...times)
      })

      const claims = Effect.map(
        Effect.orElseSucceed(files.readDirectory(root), () => []),
        (names) =>
          names.flatMap((name) => {
            const [, id, fence] = /^(.+)-([0-9]{1,15})$/.exec(name) ?? []
            const runId = idOrNull(RunId, id ?? "")
            return runId === null ? [] : [{ runId, fence: Number(fence) }]
          })
      )

      return AgentBlobs.of({
        claims,
        receivedAt,
        put,
        isComplete,
        check,
        open,
        openInto,
        remove: (claim, kind, digest) =>
          Effect.andThen(
            Effect.forEach([fileOf(claim, kind, digest), partOf(claim, kind, digest)], removeTree, { discard: true }),
            shared.remove(claim, { kind, digest })
          ),
        removeAll: (claim) => Effect.andThen(removeTree(folderOf(claim)), shared.remove(claim)),
        sweep
      })
    })
  )
}
