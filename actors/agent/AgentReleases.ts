import { Context, Effect, Layer } from "effect"
import type { CommandContext } from "../../schema/protocol/Command.ts"
import { ApiError, failedPrecondition, notFound } from "../../schema/errors/ApiError.ts"
import type { RunId } from "../../schema/records/Ids.ts"
import { Audit } from "../audit/Audit.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { AgentMonitor } from "./AgentMonitor.ts"

/** Releases Capsules from agents that are gone for good, before the leases of their applies are over. */
export class AgentReleases extends Context.Service<
  AgentReleases,
  {
    /** Settles the Run as if the lease of its agent were over, provided that the agent is silent and `fence` is that of its claim. */
    readonly release: (
      context: CommandContext,
      id: RunId,
      request: { readonly fence: number; readonly reason?: string | undefined }
    ) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/agent/AgentReleases") {
  static readonly layer = Layer.effect(
    AgentReleases,
    Effect.gen(function* () {
      const monitor = yield* AgentMonitor
      const ledger = yield* RunLedger
      const audit = yield* Audit

      const release = Effect.fn("AgentReleases.release")(function* (
        context: CommandContext,
        id: RunId,
        { fence, reason }: { readonly fence: number; readonly reason?: string | undefined }
      ) {
        const run = yield* ledger.find(id)
        if (run === undefined) return yield* notFound("Run")
        const isReleased = yield* monitor.release(
          id,
          Effect.fnUntraced(function* (lease) {
            if (lease.fence !== fence) {
              return yield* new ApiError({
                code: "guard_conflict",
                message: `The Run is executed under fence ${lease.fence} by now. Read it again: another agent has it, or the same one has begun anew.`
              })
            }
            if (!lease.isUnreachable) {
              return yield* failedPrecondition(
                "The agent of the Run is heard of, so nothing is lost. Cancel the Run instead: its tool is asked to stop, and saves its state."
              )
            }
            // Before it takes effect, which may be in several transactions: who released it is known in any case.
            yield* audit.append({
              workspaceId: run.workspace_id,
              actor: context.actor,
              action: "run.release",
              target: { kind: "run", id },
              ...(run.capsule_id === null ? {} : { capsuleId: run.capsule_id }),
              runId: id,
              data: { agent: lease.agentId, fence, ...(reason === undefined ? {} : { reason }) },
              requestId: context.requestId
            })
          })
        )
        if (!isReleased) {
          return yield* failedPrecondition(`No agent holds the Run: it is ${(yield* ledger.find(id))?.status}.`)
        }
        yield* Effect.logWarning(`Somebody released the Run ${id} from its agent before the lease was over`)
      })

      return AgentReleases.of({ release })
    })
  )
}
