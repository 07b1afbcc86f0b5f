import type { JobKind, ReportBatch, ReportedEntry } from "../../../../schema/agent/AgentJob.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import type { JobResult } from "../../../../runner/agent/JobResult.ts"
import type { UnfinishedApply } from "../../../../runner/execution/RunOutcome.ts"

/** A scripted Run, with everything that the server has received for it. */
export interface ScriptedRun {
  readonly runId: RunId
  readonly fence: number
  readonly kind: JobKind
  /** The job as JSON, without state and plan file. */
  readonly job: string
  readonly snapshot: string
  readonly secrets: { readonly state?: Uint8Array; readonly plan_file?: Uint8Array }
  leaseSeconds: number
  offered: boolean
  /** Signs with a key other than the server's. */
  isForged: boolean
  cancel: boolean
  gone: "hand_in" | "discard" | undefined
  readonly heard: Array<string>
  readonly entries: Array<ReportedEntry>
  lastBatch: number
  readonly serials: Array<number>
  readonly results: Array<JobResult>
  readonly files: Map<string, Uint8Array>
  readonly handedIn: Array<UnfinishedApply>
}

/** A fault that loses the request or the response of a message, `times` times. */
export interface Fault {
  readonly message: string
  readonly lost: "request" | "answer"
  times: number
}

export type NewRun = Pick<ScriptedRun, "runId" | "fence" | "kind" | "job" | "snapshot" | "secrets"> & {
  readonly leaseSeconds?: number
  readonly isForged?: boolean
}

export const newRun = (run: NewRun): ScriptedRun => ({
  leaseSeconds: 60,
  isForged: false,
  ...run,
  offered: false,
  cancel: false,
  gone: undefined,
  heard: [],
  entries: [],
  lastBatch: 0,
  serials: [],
  results: [],
  files: new Map(),
  handedIn: []
})

/** Stores a repeated batch only once. */
export const reported = (run: ScriptedRun, batch: ReportBatch) => {
  if (batch.number === run.lastBatch + 1) {
    run.lastBatch += 1
    run.entries.push(...batch.entries)
  }
  return { acknowledged: run.lastBatch }
}
