import { Context, Effect, Layer } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { localPool } from "../../../schema/agent/PoolName.ts"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"
import { type NewRun, RunPools } from "../../ledger/run/RunLedger.ts"
import { QueueRows } from "./QueueRows.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"

/** The time, in seconds, that a client should wait before it retries. */
const retryAfterSeconds = 30

/** Returns the part of a Workspace's queue that is reserved for Runs that people request. */
const keptForPeople = (limit: number) => Math.floor(limit / 10)

/**
 * True if only agents execute modules. Servers that share a PostgreSQL database do not execute modules themselves, because a
 * frozen server could later continue a Run that another server has ended.
 */
export const AgentsOnly = Context.Reference<boolean>("svc/actors/running/queue/AgentsOnly", {
  defaultValue: () => false
})

/** Run types that execute a module. */
const ofModules: ReadonlyArray<NewRun["type"]> = ["plan", "destroy_plan", "drift_check"]

type AdmittedRun = Pick<NewRun, "workspaceId" | "type" | "trigger" | "purpose">

/**
 * Decides whether a Workspace may queue another Run. Call it in the transaction that writes the Run, before anything is
 * written. Checks only new work: the later Runs of a coordinator and the apply of an automatic plan were admitted along with
 * the first Run.
 */
export class RunAdmission extends Context.Service<
  RunAdmission,
  {
    readonly admit: (run: AdmittedRun) => Effect.Effect<void, ApiError>
    /** Decides whether the server itself or a pool of agents can execute a Run of this type. */
    readonly place: (type: NewRun["type"], configId: InstallConfigId) => Effect.Effect<void, ApiError>
    /** Decides whether the apply of a plan in this pool may be executed there. */
    readonly placeApply: (pool: string) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/running/queue/RunAdmission") {
  static readonly layer = Layer.effect(
    RunAdmission,
    Effect.gen(function* () {
      const rows = yield* QueueRows
      const { workspaceQueue } = yield* RunSettings
      const agentsOnly = yield* AgentsOnly
      const pools = yield* RunPools

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

      const placeApply = Effect.fn("RunAdmission.placeApply")(function* (pool: string) {
        if (!agentsOnly || pool !== localPool) return
        return yield* new ApiError({
          code: "failed_precondition",
          message:
            "With a database in PostgreSQL, only agents execute modules. Nothing was started. Give the Capsule's execution profile a pool of agents, and plan again."
        })
      })

      const place = Effect.fn("RunAdmission.place")(function* (type: NewRun["type"], configId: InstallConfigId) {
        if (agentsOnly && ofModules.includes(type)) yield* placeApply(yield* pools(configId))
      })

      return RunAdmission.of({ admit, place, placeApply })
    })
  )
}
