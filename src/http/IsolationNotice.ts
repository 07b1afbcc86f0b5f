import { Context, Effect, Layer } from "effect"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import type { DashboardNotice } from "../../schema/api/DashboardApi.ts"

/** The notice shown on every page when Runs are less isolated than they should be. */
export const IsolationNotice = Context.Reference<ReadonlyArray<DashboardNotice>>("svc/src/http/IsolationNotice", {
  defaultValue: () => []
})

/**
 * As detected by the sandbox at startup. The reason and the remedy are meant for the operator, and appear in the log and in `svc
 * doctor`.
 */
export const isolationNotice = Layer.effect(
  IsolationNotice,
  Effect.map(Sandbox, ({ status: { accepted, level } }): ReadonlyArray<DashboardNotice> => {
    if (!accepted) return ["runs_refused"]
    return level === "process" ? ["isolation_off"] : []
  })
)
