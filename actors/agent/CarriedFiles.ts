import { Effect, Redacted } from "effect"
import { packContents } from "../../runner/agent/BlobContents.ts"
import { sealedInMemory } from "../../runner/agent/SealedBlob.ts"
import type { RunClaim } from "../../schema/agent/AgentJob.ts"
import { type CarriedFile, carriable, mostCarriedBytes } from "../../schema/agent/CarriedFile.ts"
import { blobsOf, type PreparedJob, toAgent } from "./JobSecrets.ts"

type Claim = typeof RunClaim.Type

/** What is larger is hardly small when it is compressed, and to try takes time. */
const mostPlainBytes = 8 * mostCarriedBytes

/** The small ones among the files of a job, sealed for its agent: a fetch less for each, and nothing is read from the database again. */
export const carriedFiles = Effect.fnUntraced(function* (
  key: CryptoKey,
  names: Parameters<typeof toAgent>[0],
  claim: Claim,
  prepared: PreparedJob
): Effect.fn.Return<ReadonlyArray<CarriedFile>> {
  const { planFile, state } = blobsOf(prepared)
  const contents = [
    { kind: "state" as const, digest: state, plain: prepared.job.state },
    {
      kind: "plan_file" as const,
      digest: planFile,
      plain: prepared.kind === "apply" ? prepared.job.planFile : undefined
    }
  ]
  const sealed = yield* Effect.forEach(
    contents,
    Effect.fnUntraced(function* ({ digest, kind, plain }) {
      if (digest === undefined || plain === undefined || Redacted.value(plain).length > mostPlainBytes) return []
      const packed = yield* packContents(Redacted.value(plain))
      // A large one is sealed when it is fetched, in parts.
      if (packed.length > mostCarriedBytes) return []
      return [{ kind, digest, bytes: yield* sealedInMemory(key, toAgent(names, claim, kind), packed) }]
    }),
    { concurrency: "unbounded" }
  )
  return carriable(sealed.flat())
})
