import { Context, Effect, Layer } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { NewRun } from "../../ledger/run/RunLedger.ts"
import { QueueRows } from "./QueueRows.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"

/** The time, in seconds, that a client should wait before it retries. */
const retryAfterSeconds = 30

/** Returns the part of a Workspace's queue that is reserved for Runs that people request. */
const keptForPeople = (limit: number) => Math.floor(limit / 10)

type AdmittedRun = Pick<NewRun, "workspaceId" | "type" | "trigger" | "purpose">

/**
 * Decides whether a Workspace may queue another Run, in the transaction that writes the Run and before anything is written. Only
 * new work is checked: later Runs of a coordinator, and the apply of an automatic plan, were admitted with their first Run.
 */
export class RunAdmission extends Context.Service<
  RunAdmission,
  { readonly admit: (run: AdmittedRun) => Effect.Effect<void, ApiError> }
>()("svc/actors/running/queue/RunAdmission") {
  static readonly layer = Layer.effect(
    RunAdmission,
    Effect.gen(function* () {
      const rows = yield* QueueRows
      const { workspaceQueue } = yield* RunSettings

      const admit = Effect.fn("RunAdmission.admit")(function* ({ purpose, trigger, type, workspaceId }: AdmittedRun) {
        const isAsked = trigger === "user" && type !== "drift_check" && purpose !== "speculative"
        const limit = isAsked ? workspaceQueue : workspaceQueue - keptForPeople(workspaceQueue)
        if ((yield* rows.countOf(workspaceId, limit)) < limit) return
        return yield* new ApiError({
          code: "rate_limited",
          message: `The Workspace has ${limit} Runs queued, which is ${isAsked ? "its limit" : "the limit for drift checks, speculative plans and automation"}. Nothing was started. Try again when some have ended, or cancel some.`,
          retryAfter: retryAfterSeconds
        })
      })

      return RunAdmission.of({ admit })
    })
  )
}
