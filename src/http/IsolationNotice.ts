import { Context, Effect, Layer } from "effect"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import type { DashboardNotice } from "../../schema/api/DashboardApi.ts"

/** The notice on every page if Runs are less isolated than they should be. */
export const IsolationNotice = Context.Reference<ReadonlyArray<DashboardNotice>>("svc/src/http/IsolationNotice", {
  defaultValue: () => []
})

/**
 * The notice from the sandbox detection at startup. The log and `svc doctor` show the reason and the remedy, which are for the
 * operator.
 */
export const isolationNotice = Layer.effect(
  IsolationNotice,
  Effect.map(Sandbox, ({ status: { accepted, level } }): ReadonlyArray<DashboardNotice> => {
    if (!accepted) return ["runs_refused"]
    return level === "process" ? ["isolation_off"] : []
  })
)
