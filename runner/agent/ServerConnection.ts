import { Context, type Effect, Schema } from "effect"
import type { ReportBatch, RunClaim } from "../../schema/agent/AgentJob.ts"
import type { Gone } from "../../schema/agent/AgentRefusal.ts"
import type { BlobKind } from "../../schema/agent/Blob.ts"
import type { SentFile } from "./SealedFile.ts"

/** A file could not be fetched, and retrying would not help. */
export class FetchRefused extends Schema.TaggedError<FetchRefused>()("FetchRefused", { message: Schema.String }) {}

/** Files and last report to send at the end of a Run. */
export interface SentResult {
  readonly lastBatch: number
  /** The last batch, if it has not been reported yet. */
  readonly lastReport?: ReportBatch
  readonly files: ReadonlyArray<SentFile>
}

/** A state to send while its Run is in progress. */
export interface SentState {
  readonly serial: number
  readonly resourceCount: number
  readonly file: SentFile
}

/**
 * The connection to the server for one Run. Each call is retried until it gets a response, even if the connection is lost, the
 * server restarts or a new session begins. A call fails only if the Run no longer belongs to this agent.
 *
 * - `report`: returns the number of the last stored batch
 * - `checkpoint`, `result`, `handIn`: sent with their files, inside the message if both sides support that
 * - `fetch`: writes the bytes to a new file exactly as sent
 */
export class ServerConnection extends Context.Service<
  ServerConnection,
  {
    readonly accept: (claim: RunClaim) => Effect.Effect<void, Gone>
    readonly start: (claim: RunClaim) => Effect.Effect<void, Gone>
    readonly report: (claim: RunClaim, batch: ReportBatch) => Effect.Effect<number, Gone>
    readonly checkpoint: (claim: RunClaim, state: SentState) => Effect.Effect<void, Gone>
    readonly result: (claim: RunClaim, result: SentResult) => Effect.Effect<void, Gone>
    readonly handIn: (claim: RunClaim, leftOver: SentFile) => Effect.Effect<void, Gone>
    readonly fetch: (
      claim: RunClaim,
      kind: BlobKind,
      digest: string,
      target: string
    ) => Effect.Effect<void, Gone | FetchRefused>
  }
>()("svc/runner/agent/ServerConnection") {}
