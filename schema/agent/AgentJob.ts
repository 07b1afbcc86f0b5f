import { Schema } from "effect"
import { LogStream, ReportedFact, RunPhase } from "../events/RunEvent.ts"
import { RunId } from "../records/Ids.ts"
import { Timestamp } from "../records/Primitives.ts"
import { Digest } from "./Blob.ts"
import { InlineFiles } from "./InlineFile.ts"

/** A Run, and the fence of the claim under which an agent executes the Run. Every report about a Run includes its claim. */
export const RunClaim = Schema.Struct({ runId: RunId, fence: Schema.Int })
export type RunClaim = typeof RunClaim.Type

/** Time, in seconds, that an agent has to accept an offer before the offer goes to another agent. */
export const acceptWithinSeconds = 30

export const JobKind = Schema.Literals(["plan", "apply", "drift_check"])
export type JobKind = typeof JobKind.Type

/**
 * A job as offered to an agent.
 * - `sealedJob`: the encoded `PlanJob`, `ApplyJob` or `DriftJob`, sealed for this agent, Run and fence; it contains only the
 *   digests of the state and plan file
 * - `leaseSeconds`: how long the agent may be silent, counted from the time when it sent the request
 * - `snapshot`, `build`, `state`, `planFile`: blobs that the agent may fetch
 * - `files`: `state` and `planFile` if they are small and the agent accepts files in a message; otherwise the agent fetches them
 * - `signature`: signature of `offerText` by the server's Ed25519 key, in base64url; anybody can seal data for an agent, but
 *   only the agent's server can make it an offer
 */
export const JobOffer = Schema.Struct({
  ...RunClaim.fields,
  kind: JobKind,
  leaseSeconds: Schema.Int,
  sealedJob: Schema.String,
  snapshot: Digest,
  build: Schema.optionalKey(Digest),
  state: Schema.optionalKey(Digest),
  planFile: Schema.optionalKey(Digest),
  files: Schema.optionalKey(InlineFiles),
  signature: Schema.String.check(Schema.isMaxLength(128))
})
export type JobOffer = typeof JobOffer.Type

/**
 * Builds the text that the server signs for an offer. Both sides build it identically. `jobDigest` is the digest of `sealedJob`.
 * The signature covers files in the offer only through the digests of their contents.
 */
export const offerText = (
  parties: { readonly from: string; readonly to: string },
  offer: Omit<JobOffer, "sealedJob" | "signature" | "files">,
  jobDigest: string
): string =>
  JSON.stringify([
    "svc-agent-offer-v1",
    parties.from,
    parties.to,
    offer.runId,
    offer.fence,
    offer.kind,
    offer.leaseSeconds,
    offer.snapshot,
    offer.build ?? null,
    offer.state ?? null,
    offer.planFile ?? null,
    jobDigest
  ])

/** Maximum length of a log line. Agents truncate longer lines before they store them. */
export const longestReportedLine = 64 * 1024

export const ReportedLine = Schema.Struct({
  at: Timestamp,
  phase: RunPhase,
  stream: LogStream,
  text: Schema.String.check(Schema.isMaxLength(longestReportedLine))
})
export type ReportedLine = typeof ReportedLine.Type

/**
 * A report about one Run. An agent sends its reports in order. `at` is for display only. - `event`, `line`: an event of the
 * Run, or a line of its log; events are never omitted - `omitted`: the number of omitted lines
 * - `number` of a batch: counts from 1 without gaps, per Run and fence; a batch that is already stored is acknowledged again
 */
export const ReportedEntry = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("event"), at: Timestamp, fact: ReportedFact }),
  Schema.Struct({ kind: Schema.Literal("line"), ...ReportedLine.fields }),
  Schema.Struct({ kind: Schema.Literal("omitted"), at: Timestamp, phase: RunPhase, lines: Schema.Int })
])
export type ReportedEntry = typeof ReportedEntry.Type

export const ReportBatch = Schema.Struct({
  number: Schema.Int.check(Schema.isGreaterThan(0)),
  entries: Schema.Array(ReportedEntry).check(Schema.isMaxLength(2000))
})
export type ReportBatch = typeof ReportBatch.Type

/**
 * A Run that the agent still holds when a session begins. `ended`: the agent has not sent the Run's result yet. `left`: the
 * Run's process has exited, and only the Run's files remain.
 */
export const HeldRun = Schema.Struct({
  ...RunClaim.fields,
  stage: Schema.Literals(["accepted", "started", "ended", "left"])
})
export type HeldRun = typeof HeldRun.Type

/**
 * The server's instruction for a Run that the agent holds.
 *
 * - `continue`: the Run still belongs to the agent
 * - `hand_in`: the Run has been settled in the meantime; stop the tool, and submit its state and journal as evidence
 * - `discard`: the server needs nothing from the Run; stop the tool and remove its files
 */
export const HeldRunOrder = Schema.Struct({
  ...RunClaim.fields,
  order: Schema.Literals(["continue", "hand_in", "discard"]),
  leaseSeconds: Schema.optionalKey(Schema.Int),
  /** Number of the last stored batch. */
  acknowledged: Schema.Int,
  cancel: Schema.Boolean
})
export type HeldRunOrder = typeof HeldRunOrder.Type
