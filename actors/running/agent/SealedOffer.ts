import { Effect, Redacted } from "effect"
import { sealFor } from "../../../runner/agent/SealedMessage.ts"
import { offerText } from "../../../schema/agent/AgentJob.ts"
import { carriesFiles } from "../../../schema/agent/CarriedFile.ts"
import type { AgentSession } from "../agent-pool/AgentSessions.ts"
import { type OwnKeys, sealingKey } from "../agent-pool/ServerKeys.ts"
import type { AgentRunRow } from "./AgentRunRow.ts"
import { carriedFiles, type SmallFile, smallFiles } from "./InlineFiles.ts"
import { blobsOf, digestOf, encodedJob, type PreparedJob, toAgent } from "./JobSecrets.ts"

/** A job that is waiting for its agent. Large states and plan files are not kept in memory meanwhile; only their digests are. */
export interface OfferedJob {
  readonly text: Redacted.Redacted
  readonly blobs: ReturnType<typeof blobsOf>
  readonly small: ReadonlyArray<SmallFile>
}

export const offeredJob = Effect.fnUntraced(function* (prepared: PreparedJob): Effect.fn.Return<OfferedJob> {
  return {
    text: Redacted.make(yield* encodedJob(prepared)),
    blobs: blobsOf(prepared),
    small: yield* smallFiles(prepared)
  }
})

/** The offer of a job: sealed for the requesting agent, and signed. */
export const sealedOffer = Effect.fnUntraced(function* (
  { installationId, sign }: OwnKeys,
  { agent, facts }: AgentSession,
  row: AgentRunRow,
  job: OfferedJob
) {
  const names = { installationId, agentId: agent.id }
  const claim = { runId: row.run_id, fence: row.fence }
  const key = yield* sealingKey(agent.seal_key)
  const purpose = toAgent(names, claim, "job")
  const text = new TextEncoder().encode(Redacted.value(job.text))
  const small = facts.capabilities.includes(carriesFiles) ? job.small : []
  const { files, sealedJob } = yield* Effect.all(
    { sealedJob: sealFor(key, purpose, text), files: carriedFiles(key, names, claim, small) },
    { concurrency: "unbounded" }
  )
  const offer = { ...claim, kind: row.kind, leaseSeconds: row.lease_seconds, ...job.blobs }
  const signature = yield* sign(offerText(purpose, offer, digestOf(new TextEncoder().encode(sealedJob))))
  return { ...offer, sealedJob, signature, ...(files.length === 0 ? {} : { files }) }
})
