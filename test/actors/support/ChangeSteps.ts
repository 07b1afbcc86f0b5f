import { Effect } from "effect"
import { RevisionPlans } from "../../../actors/commands/revision-plan/RevisionPlans.ts"
import { Sources } from "../../../actors/ledger/source/Sources.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { RevisionPlanCommands } from "../../../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"
import type { CapsuleId, SourceId } from "../../../schema/records/Ids.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { freshKey, replanned, settled, stepped } from "../../support/Journey.ts"
import { TestPlane } from "../../support/TestPlane.ts"

/** Creates a speculative plan of a ref, as the Workspace's owner. */
export const speculated = Effect.fnUntraced(function* (capsuleId: CapsuleId, ref: string) {
  const { context } = yield* TestPlane
  const { value } = yield* (yield* RevisionPlans).create(context, capsuleId, { ref, speculative: true }, freshKey())
  const plan = yield* stepped((yield* RevisionPlanCommands).Reconcile(value.id, { context }))
  if (plan.planRunId === undefined) return yield* Effect.die(new Error(JSON.stringify(plan.diagnostics)))
  return yield* settled(plan.planRunId)
})

export const digestsOf = ({ changeDigest = "", planDigest = "" }: Run) => ({ changeDigest, planDigest })

export const approveChange = Effect.fnUntraced(function* (context: CommandContext, run: Run) {
  return (yield* (yield* RunCommands).ApproveChange(run.id, { context, ...digestsOf(run) })).value
})

/** Syncs the lane and plans it, as svc does after a merge. */
export const planLane = Effect.fnUntraced(function* (capsuleId: CapsuleId, sourceId: SourceId) {
  const { context } = yield* TestPlane
  yield* settled((yield* (yield* Sources).sync(context, sourceId, {})).id)
  return yield* replanned(capsuleId)
})

/** Returns the codes of the reasons why no approval was carried over. */
export const reasonsOf = (run: Run) => (run.differsFrom?.reasons ?? []).map(({ code }) => code)
