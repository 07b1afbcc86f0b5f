import { createHash } from "node:crypto"
import { Effect, Option, Redacted, Schema } from "effect"
import { sealedFor, serverParty } from "../../../runner/agent/BlobContents.ts"
import type { SealedFor } from "../../../runner/agent/SealedMessage.ts"
import { ApplyJob, DriftJob, PlanJob } from "../../../runner/execution/RunJob.ts"
import type { JobKind, RunClaim } from "../../../schema/agent/AgentJob.ts"

type Claim = typeof RunClaim.Type
type Sealed = Parameters<typeof sealedFor>[2]

/** A prepared job and its kind. */
export type PreparedJob =
  | { readonly kind: "plan"; readonly job: PlanJob }
  | { readonly kind: "apply"; readonly job: ApplyJob }
  | { readonly kind: "drift_check"; readonly job: DriftJob }

const encodePlan = Schema.encodeEffect(Schema.fromJsonString(PlanJob))
const encodeApply = Schema.encodeEffect(Schema.fromJsonString(ApplyJob))
const encodeDrift = Schema.encodeEffect(Schema.fromJsonString(DriftJob))

const noBytes = Redacted.make(new Uint8Array(0))

/** Encodes a job for sealing. Its state and plan file are transferred separately. */
export const encodedJob = (prepared: PreparedJob): Effect.Effect<string> => {
  const { kind } = prepared
  switch (kind) {
    case "plan":
      return Effect.orDie(encodePlan({ ...prepared.job, state: undefined }))
    case "apply":
      return Effect.orDie(encodeApply({ ...prepared.job, state: undefined, planFile: noBytes }))
    case "drift_check":
      return Effect.orDie(encodeDrift({ ...prepared.job, state: undefined }))
  }
}

export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

/** The parts of a job that are transferred separately and identified by digest. */
export const blobsOf = ({ job, kind }: PreparedJob) => ({
  snapshot: job.module.snapshotDigest,
  ...(job.state === undefined ? {} : { state: digestOf(Redacted.value(job.state)) }),
  ...(kind === "apply" ? { planFile: digestOf(Redacted.value(job.planFile)) } : {}),
  ...(job.build !== undefined ? { build: job.build.digest } : {})
})

export interface Names {
  readonly installationId: string
  readonly agentId: string
}

/** Returns the sealing purpose for data that the server sends to an agent. */
export const toAgent = ({ agentId, installationId }: Names, claim: Claim, kind: Sealed): SealedFor =>
  sealedFor({ from: serverParty(installationId), to: agentId }, claim, kind)

/** Returns the sealing purpose for data that an agent sends to the server. */
export const fromAgent = ({ agentId, installationId }: Names, claim: Claim, kind: Sealed): SealedFor =>
  sealedFor({ from: agentId, to: serverParty(installationId) }, claim, kind)

/**
 * Returns the input from which the key for one blob of a claim is derived. The key is the same after a restart, so an
 * interrupted response can be resumed. `contents` is the digest of the exact bytes to seal: another release may compress the
 * blob differently, and one key must never seal two plaintexts.
 */
export const blobUse = ({ fence, kind, runId, to }: SealedFor, digest: string, contents: string): string =>
  JSON.stringify(["blob", to, runId, fence, kind, digest, contents])

export const kindOf = (type: string): Option.Option<typeof JobKind.Type> => {
  switch (type) {
    case "plan":
    case "destroy_plan":
      return Option.some("plan")
    case "apply":
    case "destroy_apply":
      return Option.some("apply")
    case "drift_check":
      return Option.some("drift_check")
    default:
      return Option.none()
  }
}
