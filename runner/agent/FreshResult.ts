import { Effect } from "effect"
import { type CarriedFile, mostCarriedBytes } from "../../schema/agent/CarriedFile.ts"
import { sha256 } from "../execution/Digest.ts"
import type { RunFileFailed } from "../execution/RunFiles.ts"
import { AgentParty } from "./AgentParty.ts"
import { packContents } from "./BlobContents.ts"
import type { RunRoom, SealedResult } from "./RunRoom.ts"
import { sealedInMemory } from "./SealedBlob.ts"
import { type SealedFile, sealedBytes, type SentFile, writeSealed } from "./SealedFile.ts"

/**
 * A result that is sealed. What is small is in memory: it is sent while `kept` brings it to the disk, since a disk that is busy takes longer than
 * the server. What is large is on the disk already.
 */
export interface FreshResult {
  readonly result: SealedResult
  readonly files: ReadonlyArray<SentFile>
  readonly kept: Effect.Effect<void, RunFileFailed>
}

/** The files of a result, as they are sent. */
const filesOf = ({ build, outcome, planFile, state }: SealedResult): ReadonlyArray<SentFile> =>
  (
    [
      ["outcome", outcome],
      ["plan_file", planFile],
      ["state", state],
      ["build", build]
    ] as const
  ).flatMap(([kind, file]) => (file === undefined ? [] : [{ ...file, kind }]))

/**
 * Seals contents for the server, under their place in the Run's room: in memory where they are small, otherwise on the disk. `name` is that of the
 * file; two that exist at a time need two names.
 */
export const sealedContents = Effect.fnUntraced(function* (
  room: RunRoom,
  kind: CarriedFile["kind"],
  contents: Uint8Array,
  name: string = kind
): Effect.fn.Return<SentFile, RunFileFailed, AgentParty> {
  const party = yield* AgentParty
  const path = room.sealed(name)
  const purpose = party.sent(room.claim, kind)
  const packed = yield* packContents(contents)
  if (packed.length > mostCarriedBytes) return { ...(yield* sealedBytes(path, party.serverKey, purpose, packed)), kind }
  const bytes = yield* sealedInMemory(party.serverKey, purpose, packed)
  return { kind, path, digest: sha256(bytes), sizeBytes: bytes.length, bytes }
})

const onDisk = ({ digest, path, sizeBytes }: SentFile): SealedFile => ({ path, digest, sizeBytes })

/** A result of these files. */
export const freshResult = (files: {
  readonly outcome: SentFile
  readonly planFile?: SentFile | undefined
  readonly state?: SentFile | undefined
  readonly build?: SealedFile | undefined
}): FreshResult => {
  const { build, outcome, planFile, state } = files
  const sent = [outcome, planFile, state].filter((file) => file !== undefined)
  return {
    result: {
      outcome: onDisk(outcome),
      ...(planFile === undefined ? {} : { planFile: onDisk(planFile) }),
      ...(state === undefined ? {} : { state: onDisk(state) }),
      ...(build === undefined ? {} : { build })
    },
    files: build === undefined ? sent : [...sent, { ...build, kind: "build" }],
    kept: Effect.forEach(sent, ({ bytes, path }) => (bytes === undefined ? Effect.void : writeSealed(path, bytes)), {
      concurrency: "unbounded",
      discard: true
    })
  }
}

/** What an earlier process of the agent left: on the disk. */
export const storedResult = (result: SealedResult): FreshResult => ({
  result,
  files: filesOf(result),
  kept: Effect.void
})
