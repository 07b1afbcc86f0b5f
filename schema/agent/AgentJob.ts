import { Schema } from "effect"
import { LogStream, ReportedFact, RunPhase } from "../events/RunEvent.ts"
import { RunId } from "../records/Ids.ts"
import { Timestamp } from "../records/Primitives.ts"
import { Digest } from "./Blob.ts"
import { CarriedFiles } from "./CarriedFile.ts"

/** A Run under one claim. Everything an agent reports about a Run identifies its claim. */
export const RunClaim = Schema.Struct({ runId: RunId, fence: Schema.Int })
export type RunClaim = typeof RunClaim.Type

/** An offer that is not accepted within this many seconds goes to another agent. */
export const acceptWithinSeconds = 30

export const JobKind = Schema.Literals(["plan", "apply", "drift_check"])
export type JobKind = typeof JobKind.Type

/**
 * A job as offered to an agent.
 *
 * - `sealedJob`: the encoded job of this kind (`PlanJob`, `ApplyJob` or `DriftJob`), sealed for this agent, Run and fence. Its
 *   state and plan file are not in it: `state` and `planFile` name them as blobs
 * - `leaseSeconds`: how long the agent may be silent, counted from when it sent the request
 * - `snapshot`, `build`, `state`, `planFile`: what the agent may fetch
 * - `files`: whichever of `state` and `planFile` are small, if the agent accepts files in a message; it fetches the others
 * - `signature`: over `offerText`, by the server's Ed25519 key, in base64url. Anybody can seal for an agent; only its server can
 *   make an offer
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
  files: Schema.optionalKey(CarriedFiles),
  signature: Schema.String.check(Schema.isMaxLength(128))
})
export type JobOffer = typeof JobOffer.Type

/**
 * The message that the server signs for an offer; both sides build it identically. `jobDigest` is the digest of `sealedJob`. It
 * does not include files that come with the offer, only the digests of their contents.
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

/** The maximum length of a log line; longer lines are truncated where they are written. */
export const longestReportedLine = 64 * 1024

export const ReportedLine = Schema.Struct({
  at: Timestamp,
  phase: RunPhase,
  stream: LogStream,
  text: Schema.String.check(Schema.isMaxLength(longestReportedLine))
})
export type ReportedLine = typeof ReportedLine.Type

/**
 * What an agent reports about one Run, in order. `at` is for display only.
 *
 * - `event`, `line`: what happened. Events are never left out; `omitted` counts lines that were
 * - `number` of a batch: from 1, without gaps, per Run and fence. A batch that is already stored is acknowledged again
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
 * What an agent still holds from a Run when it begins a session. `ended`: its result has not been sent yet. `left`: only what an
 * exited process left behind.
 */
export const HeldRun = Schema.Struct({
  ...RunClaim.fields,
  stage: Schema.Literals(["accepted", "started", "ended", "left"])
})
export type HeldRun = typeof HeldRun.Type

/**
 * What to do with a Run that the agent still holds.
 *
 * - `continue`: it still belongs to the agent
 * - `hand_in`: it has been settled in the meantime; stop the tool, and submit state and journal as evidence
 * - `discard`: none of it is needed; stop the tool and remove the Run's files
 */
export const HeldRunOrder = Schema.Struct({
  ...RunClaim.fields,
  order: Schema.Literals(["continue", "hand_in", "discard"]),
  leaseSeconds: Schema.optionalKey(Schema.Int),
  /** The last stored batch. */
  acknowledged: Schema.Int,
  cancel: Schema.Boolean
})
export type HeldRunOrder = typeof HeldRunOrder.Type
