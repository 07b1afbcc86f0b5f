import { Context, type Effect, Schema } from "effect"
import type { ReportBatch, RunClaim } from "../../schema/agent/AgentJob.ts"
import type { Gone } from "../../schema/agent/AgentRefusal.ts"
import type { BlobKind } from "../../schema/agent/Blob.ts"
import type { SealedFile } from "./SealedFile.ts"

/** A file could not be fetched, and trying again would not help. */
export class FetchRefused extends Schema.TaggedError<FetchRefused>()("FetchRefused", { message: Schema.String }) {}

/** What the server receives at the end of a Run: digests of the sealed files that were uploaded before. */
export interface ResultFiles {
  readonly lastBatch: number
  readonly outcome: string
  readonly planFile?: string
  readonly state?: string
  readonly build?: string
}

/**
 * The connection to the server for one Run. Each call repeats until it is answered, across cut lines, restarts of the
 * server and new sessions; it fails only when the Run is no longer this agent's.
 *
 * - `report`: returns the number of the last stored batch
 * - `fetch`: writes the bytes as they are sent to a new file
 */
export class ServerLine extends Context.Service<
  ServerLine,
  {
    readonly accept: (claim: RunClaim) => Effect.Effect<void, Gone>
    readonly start: (claim: RunClaim) => Effect.Effect<void, Gone>
    readonly report: (claim: RunClaim, batch: ReportBatch) => Effect.Effect<number, Gone>
    readonly checkpoint: (
      claim: RunClaim,
      state: { readonly serial: number; readonly resourceCount: number; readonly blob: string }
    ) => Effect.Effect<void, Gone>
    readonly result: (claim: RunClaim, files: ResultFiles) => Effect.Effect<void, Gone>
    readonly handIn: (claim: RunClaim, leftOver: string) => Effect.Effect<void, Gone>
    readonly put: (claim: RunClaim, kind: BlobKind, file: SealedFile) => Effect.Effect<void, Gone>
    readonly fetch: (
      claim: RunClaim,
      kind: BlobKind,
      digest: string,
      target: string
    ) => Effect.Effect<void, Gone | FetchRefused>
  }
>()("svc/agent/ServerLine") {}
