import { Context, Effect, Layer } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { NewRun } from "../../ledger/run/RunLedger.ts"
import { QueueRows } from "./QueueRows.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"

/** The time that a client should wait before its next attempt. */
const retryAfterSeconds = 30

/** The share of a Workspace's queue that is reserved for people's requests. */
const keptForPeople = (limit: number) => Math.floor(limit / 10)

/**
 * Decides if a Workspace may queue one more Run. Checked in the transaction that writes the Run, before anything is written. Only
 * new work is checked: a coordinator's later Runs, and the apply of an automatic plan, were admitted with the first Run.
 */
export class RunAdmission extends Context.Service<
  RunAdmission,
  { readonly admit: (run: Pick<NewRun, "workspaceId" | "type" | "trigger">) => Effect.Effect<void, ApiError> }
>()("svc/actors/running/queue/RunAdmission") {
  static readonly layer = Layer.effect(
    RunAdmission,
    Effect.gen(function* () {
      const rows = yield* QueueRows
      const { workspaceQueue } = yield* RunSettings

      const admit = Effect.fn("RunAdmission.admit")(function* ({
        trigger,
        type,
        workspaceId
      }: Pick<NewRun, "workspaceId" | "type" | "trigger">) {
        const isAsked = trigger === "user" && type !== "drift_check"
        const limit = isAsked ? workspaceQueue : workspaceQueue - keptForPeople(workspaceQueue)
        if ((yield* rows.countOf(workspaceId, limit)) < limit) return
        return yield* new ApiError({
          code: "rate_limited",
          message: `The Workspace has ${limit} Runs queued, which is ${isAsked ? "its limit" : "the limit for drift checks and automation"}. Nothing was started. Try again when some have ended, or cancel some.`,
          retryAfter: retryAfterSeconds
        })
      })

      return RunAdmission.of({ admit })
    })
  )
}
