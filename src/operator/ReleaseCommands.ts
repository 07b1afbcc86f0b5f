import { Context, Effect, Layer, Schema } from "effect"
import { AgentMonitor } from "../../actors/agent/AgentMonitor.ts"
import { Audit } from "../../actors/audit/Audit.ts"
import { serviceContext } from "../../actors/Command.ts"
import { idOrNull } from "../../actors/Identity.ts"
import { RunLedger } from "../../actors/run/RunLedger.ts"
import { type ApiError, failedPrecondition, notFound } from "../../schema/errors/ApiError.ts"
import { RunId } from "../../schema/records/Ids.ts"
import { RunStatus } from "../../schema/records/Run.ts"

export const ReleasedRun = Schema.Struct({ runId: Schema.String, status: RunStatus })
export type ReleasedRun = typeof ReleasedRun.Type

/** Releases a Capsule from an agent that is gone for good, before the lease of its apply is over. */
export class ReleaseCommands extends Context.Service<
  ReleaseCommands,
  {
    /** Settles the Run as if its lease were over. Fails with `not_found`, and `failed_precondition` when no agent holds it. */
    readonly release: (runId: string) => Effect.Effect<ReleasedRun, ApiError>
  }
>()("svc/operator/ReleaseCommands") {
  static readonly layer = Layer.effect(
    ReleaseCommands,
    Effect.gen(function* () {
      const monitor = yield* AgentMonitor
      const ledger = yield* RunLedger
      const audit = yield* Audit

      const release = Effect.fn("ReleaseCommands.release")(function* (text: string) {
        const id = idOrNull(RunId, text)
        const run = yield* ledger.find(id)
        if (run === undefined) return yield* notFound("Run")
        // Before it takes effect, which may be in several transactions: who released it is known in any case.
        const audited = audit.append({
          workspaceId: run.workspace_id,
          actor: serviceContext.actor,
          action: "operator.command",
          target: { kind: "run", id: run.id },
          ...(run.capsule_id === null ? {} : { capsuleId: run.capsule_id }),
          runId: run.id,
          data: { command: "admin agent release" }
        })
        if (!(yield* monitor.release(run.id, () => audited))) {
          return yield* failedPrecondition(`No agent holds the Run ${run.id}: it is ${run.status}.`)
        }
        yield* Effect.logInfo(`Done for an operator: svc admin agent release, ${run.id}`)
        return { runId: run.id, status: (yield* ledger.find(run.id))?.status ?? run.status }
      })

      return ReleaseCommands.of({ release })
    })
  )
}
