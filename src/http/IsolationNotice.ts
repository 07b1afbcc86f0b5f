import { Context, Effect, Layer } from "effect"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import type { DashboardNotice } from "../../schema/api/DashboardApi.ts"

/** The notice that every page shows if Runs are less isolated than they should be. */
export const IsolationNotice = Context.Reference<ReadonlyArray<DashboardNotice>>("svc/src/http/IsolationNotice", {
  defaultValue: () => []
})

/**
 * Derives the notice from the sandbox detection at startup. The notice omits the reason and the remedy, because they are for
 * the operator. The log and `svc doctor` show them.
 */
export const isolationNotice = Layer.effect(
  IsolationNotice,
  Effect.map(Sandbox, ({ status: { accepted, level } }): ReadonlyArray<DashboardNotice> => {
    if (!accepted) return ["runs_refused"]
    return level === "process" ? ["isolation_off"] : []
  })
)
