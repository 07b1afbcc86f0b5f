import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { monotonicNow } from "../../base/MonotonicNow.ts"
import { RunJournal } from "../../ledger/run/RunJournal.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { present } from "../../ledger/run/RunRow.ts"
import { AgentLeases, type Lease } from "./AgentLeases.ts"
import { AgentMonitor } from "./AgentMonitor.ts"
import { unreachableAfter } from "./LeaseVerdict.ts"

export interface ReleaseRequest {
  /** The fence of the claim at the time of the person's decision. */
  readonly fence: number
  readonly reason?: string | undefined
  /** Set if the Run was released by the operator's command, because an operator does not act on behalf of a Workspace. */
  readonly command?: string | undefined
}

/** Lets people take Runs away from lost agents before the leases expire, so that their Capsules become free. */
export class AgentReleases extends Context.Service<
  AgentReleases,
  {
    /** Returns the agent that holds the Run, and its fence. */
    readonly holder: (id: RunId) => Effect.Effect<Pick<Lease, "agentId" | "fence" | "isUnreachable"> | undefined>
    /** Settles the Run as if its lease had expired. Fails unless the agent is silent and its claim still has this `fence`. */
    readonly release: (context: CommandContext, id: RunId, request: ReleaseRequest) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/running/agent/AgentReleases") {
  static readonly layer = Layer.effect(
    AgentReleases,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const monitor = yield* AgentMonitor
      const leases = yield* AgentLeases
      const ledger = yield* RunLedger
      const audit = yield* Audit
      const journal = yield* RunJournal

      const holder = (id: RunId) => Effect.map(leases.all, (all) => all.find(({ runId }) => runId === id))

      const silent = Effect.fnUntraced(function* (lease: Lease | undefined) {
        if (lease?.isUnreachable !== true) {
          return yield* failedPrecondition(
            "The agent of the Run is heard of, so nothing is lost. Cancel the Run instead: its tool is asked to stop, and saves its state."
          )
        }
        // Also uses the stored mark, because, after a restart of the server, no agent may have contacted it yet.
        if ((yield* monotonicNow) - lease.heardAt <= unreachableAfter) {
          return yield* failedPrecondition(
            "The server has listened for the agent of the Run for less than 30 seconds. Try again in half a minute."
          )
        }
      })

      const release = Effect.fn("AgentReleases.release")(function* (
        context: CommandContext,
        id: RunId,
        { command, fence, reason }: ReleaseRequest
      ) {
        const run = yield* ledger.find(id)
        if (run === undefined) return yield* notFound("Run")
        const isReleased = yield* monitor.release(
          id,
          Effect.fnUntraced(function* (lease) {
            if (lease.fence !== fence) {
              return yield* new ApiError({
                code: "guard_conflict",
                message: `The Run now has fence ${lease.fence}. Read it again: another agent has the Run, or the same agent has restarted it.`
              })
            }
            yield* silent(lease)
            // Writes the audit event before the release, which may need several transactions, so that the audit history
            // always shows who released the Run.
            yield* audit.append({
              workspaceId: run.workspace_id,
              actor: context.actor,
              action: command === undefined ? "run.release" : "operator.command",
              target: { kind: "run", id },
              ...(run.capsule_id === null ? {} : { capsuleId: run.capsule_id }),
              runId: id,
              data: { ...present({ command, reason }), agent: lease.agentId, fence },
              requestId: context.requestId
            })
            const by = command === undefined ? ("member" as const) : ("operator" as const)
            const hold = { runId: id, fence, owner: lease.agentId }
            const data = { agentId: lease.agentId, by, ...present({ reason }) }
            yield* Effect.catchTag(journal.report(hold, "agent.released", data), "HoldLost", () => Effect.void)
            // Checks again, because the agent may have contacted the server while the event was being written.
            yield* silent(yield* leases.shown(lease))
          }, transaction(sql))
        )
        if (!isReleased) {
          return yield* failedPrecondition(`No agent holds the Run: it is ${(yield* ledger.find(id))?.status}.`)
        }
        yield* Effect.logWarning(`Somebody released the Run ${id} from its agent before the lease was over`)
      })

      return AgentReleases.of({ holder, release })
    })
  )
}
