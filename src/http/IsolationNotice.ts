import { Context, Effect, Layer } from "effect"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import type { DashboardNotice } from "../../schema/api/DashboardApi.ts"

/** What every page says of how Runs are kept apart, where that is not as it should be. */
export const IsolationNotice = Context.Reference<ReadonlyArray<DashboardNotice>>("svc/http/IsolationNotice", {
  defaultValue: () => []
})

/** As the sandbox found it at start. Why, and what would mend it, is for the operator: the log and `svc doctor` say it. */
export const isolationNotice = Layer.effect(
  IsolationNotice,
  Effect.map(Sandbox, ({ status: { accepted, level } }): ReadonlyArray<DashboardNotice> => {
    if (!accepted) return ["runs_refused"]
    return level === "process" ? ["isolation_off"] : []
  })
)
