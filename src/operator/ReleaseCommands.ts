import { Context, Effect, Layer, Schema } from "effect"
import { AgentReleases } from "../../actors/running/agent/AgentReleases.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { idOrNull } from "../../actors/base/Identity.ts"
import { RunLedger } from "../../actors/ledger/run/RunLedger.ts"
import { type ApiError, failedPrecondition, notFound } from "../../schema/errors/ApiError.ts"
import { RunId } from "../../schema/records/Ids.ts"
import { RunStatus } from "../../schema/records/Run.ts"
import { releaseRisk } from "../ReleaseRisk.ts"

export const ReleasedRun = Schema.Struct({ runId: Schema.String, status: RunStatus })
export type ReleasedRun = typeof ReleasedRun.Type

export const ReleaseCommand = Schema.Struct({
  runId: Schema.String,
  fence: Schema.optionalKey(Schema.Int),
  toolIsDead: Schema.Boolean
})
export type ReleaseCommand = typeof ReleaseCommand.Type

/** Releases a Capsule from a permanently lost agent before the lease of its apply expires. */
export class ReleaseCommands extends Context.Service<
  ReleaseCommands,
  {
    /**
     * Settles the Run of a silent agent as if the agent's lease had expired, under the fence that the operator saw. If no
     * fence is given, or if the tool may still be running, fails with a message that describes the risk and the agent that
     * holds the Run.
     */
    readonly release: (request: ReleaseCommand) => Effect.Effect<ReleasedRun, ApiError>
  }
>()("svc/src/operator/ReleaseCommands") {
  static readonly layer = Layer.effect(
    ReleaseCommands,
    Effect.gen(function* () {
      const releases = yield* AgentReleases
      const ledger = yield* RunLedger

      const release = Effect.fn("ReleaseCommands.release")(function* ({ fence, runId, toolIsDead }: ReleaseCommand) {
        const id = idOrNull(RunId, runId)
        const run = yield* ledger.find(id)
        if (run === undefined) return yield* notFound("Run")
        const holder = yield* releases.holder(run.id)
        if (holder === undefined)
          return yield* failedPrecondition(`No agent holds the Run ${run.id}: it is ${run.status}.`)
        if (fence === undefined || !toolIsDead) {
          const contact = holder.isUnreachable ? "is silent" : "is heard of"
          return yield* failedPrecondition(
            `The agent ${holder.agentId} executes the Run ${run.id} under fence ${holder.fence}, and ${contact}. ${releaseRisk} Repeat the command with --fence ${holder.fence} --tool-is-dead.`
          )
        }
        yield* releases.release(serviceContext, run.id, { fence, command: "admin agent release" })
        return { runId: run.id, status: (yield* ledger.find(run.id))?.status ?? run.status }
      })

      return ReleaseCommands.of({ release })
    })
  )
}
