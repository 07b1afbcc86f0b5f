import { Effect } from "effect"
import { type InlineFile, mostInlineBytes } from "../../schema/agent/InlineFile.ts"
import { sha256 } from "../execution/Digest.ts"
import type { RunFileFailed } from "../execution/RunFiles.ts"
import { AgentParty } from "./AgentParty.ts"
import { packContents } from "./BlobContents.ts"
import type { AgentRunFolder, SealedResult } from "./AgentRunFolder.ts"
import { sealedInMemory } from "./SealedBlob.ts"
import { type SealedFile, sealedBytes, type SentFile, writeSealed } from "./SealedFile.ts"

/**
 * A sealed result. Small files are in memory, and are sent while `kept` writes them to disk, because a busy disk can be
 * slower than the server. Large files are already on disk.
 */
export interface ResultUpload {
  readonly result: SealedResult
  readonly files: ReadonlyArray<SentFile>
  readonly kept: Effect.Effect<void, RunFileFailed>
}

/** Lists the files of a result in the form in which the agent sends them. */
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
 * Seals contents for the server: in memory if they are small, otherwise in a file in the Run's folder. `name` is the file name,
 * which must be unique while the file exists.
 */
export const sealedContents = Effect.fnUntraced(function* (
  room: AgentRunFolder,
  kind: InlineFile["kind"],
  contents: Uint8Array,
  name: string = kind
): Effect.fn.Return<SentFile, RunFileFailed, AgentParty> {
  const party = yield* AgentParty
  const path = room.sealed(name)
  const purpose = party.sent(room.claim, kind)
  const packed = yield* packContents(contents)
  if (packed.length > mostInlineBytes) return { ...(yield* sealedBytes(path, party.serverKey, purpose, packed)), kind }
  const bytes = yield* sealedInMemory(party.serverKey, purpose, packed)
  return { kind, path, digest: sha256(bytes), sizeBytes: bytes.length, bytes }
})

const onDisk = ({ digest, path, sizeBytes }: SentFile): SealedFile => ({ path, digest, sizeBytes })

/** Creates a result with these files. */
export const resultUpload = (files: {
  readonly outcome: SentFile
  readonly planFile?: SentFile | undefined
  readonly state?: SentFile | undefined
  readonly build?: SealedFile | undefined
}): ResultUpload => {
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

/** Returns the files of a result that an earlier process of the agent left on disk. */
export const storedResult = (result: SealedResult): ResultUpload => ({
  result,
  files: filesOf(result),
  kept: Effect.void
})
