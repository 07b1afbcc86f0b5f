import { Effect, Redacted } from "effect"
import { packContents } from "../../../runner/agent/BlobContents.ts"
import { sealedInMemory } from "../../../runner/agent/SealedBlob.ts"
import type { RunClaim } from "../../../schema/agent/AgentJob.ts"
import { fittingFiles, type InlineFile, mostInlineBytes } from "../../../schema/agent/InlineFile.ts"
import { blobsOf, type PreparedJob, toAgent } from "./JobSecrets.ts"

type Claim = typeof RunClaim.Type

/**
 * Maximum size, in bytes, of a file that svc tries to compress for inline sending. A larger file is unlikely to compress
 * well enough, and compressing it takes time.
 */
const mostPlainBytes = 8 * mostInlineBytes

/** A small file of a job, compressed but not yet sealed. */
export interface SmallFile {
  readonly kind: "state" | "plan_file"
  readonly digest: string
  readonly packed: Redacted.Redacted<Uint8Array>
}

/** Returns the files of a job that are small enough to be sent inside the job. */
export const smallFiles = Effect.fnUntraced(function* (prepared: PreparedJob) {
  const { planFile, state } = blobsOf(prepared)
  const contents = [
    { kind: "state" as const, digest: state, plain: prepared.job.state },
    {
      kind: "plan_file" as const,
      digest: planFile,
      plain: prepared.kind === "apply" ? prepared.job.planFile : undefined
    }
  ]
  const small = yield* Effect.forEach(
    contents,
    Effect.fnUntraced(function* ({ digest, kind, plain }): Effect.fn.Return<ReadonlyArray<SmallFile>> {
      if (digest === undefined || plain === undefined || Redacted.value(plain).length > mostPlainBytes) return []
      const packed = yield* packContents(Redacted.value(plain))
      // Large files are sealed in parts when the agent fetches them.
      return packed.length > mostInlineBytes ? [] : [{ kind, digest, packed: Redacted.make(packed) }]
    }),
    { concurrency: "unbounded" }
  )
  return small.flat()
})

/** Seals a job's small files for its agent. Sending them with the job saves one request per file. */
export const inlineFiles = Effect.fnUntraced(function* (
  key: CryptoKey,
  names: Parameters<typeof toAgent>[0],
  claim: Claim,
  small: ReadonlyArray<SmallFile>
): Effect.fn.Return<ReadonlyArray<InlineFile>> {
  const sealed = yield* Effect.forEach(
    small,
    ({ digest, kind, packed }) =>
      Effect.map(sealedInMemory(key, toAgent(names, claim, kind), Redacted.value(packed)), (bytes) => ({
        kind,
        digest,
        bytes
      })),
    { concurrency: "unbounded" }
  )
  return fittingFiles(sealed)
})
