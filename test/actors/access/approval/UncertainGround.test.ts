import { describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Approvals } from "../../../../actors/access/approval/Approvals.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { capsulesWithOrphanedStates } from "../../../../actors/commands/attention/AttentionRows.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { OrphanedStates } from "../../../../actors/ledger/state/OrphanedStates.ts"
import type { CapsuleId, RunId } from "../../../../schema/records/Ids.ts"
import type { OrphanedStateReason } from "../../../../schema/records/OrphanedState.ts"
import { attentionOf } from "../../../../src/http/handlers/Attention.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { applyRefused, approvalSuite, standing } from "../../support/ApprovalSteps.ts"
import { adopt, withOrphanedState } from "../../support/OrphanedStateDecisions.ts"
import { stateFile } from "../../support/OrphanedStateList.ts"
import { newCommit, pureModule } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { withMember } from "../../../support/Dialect.ts"

const tests = approvalSuite()

/** Stores a leftover state from an earlier apply, as a settlement or an agent may do at any time. */
const left = Effect.fnUntraced(function* (
  { capsule, apply }: { readonly capsule: { readonly id: CapsuleId }; readonly apply: { readonly id: RunId } },
  reason: OrphanedStateReason,
  part = "state"
) {
  const sql = yield* SqlClient.SqlClient
  const { workspaceId } = yield* TestPlane
  const leftOvers = yield* OrphanedStates
  const left = yield* leftOvers.read(Redacted.make(stateFile("another", 1)))
  yield* leftOvers
    .keep({
      capsule: {
        id: capsule.id,
        workspace_id: workspaceId,
        current_state_version_id: null,
        current_state_generation: 1,
        execution_authority_epoch: 0
      },
      runId: apply.id,
      reason,
      left,
      settled: undefined,
      secrets: undefined,
      build: undefined,
      part
    })
    .pipe(transaction(sql))
})

/** Simulates an apply that was interrupted while it created objects. */
const interrupted = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE runs SET status = 'failed',
    evidence = ${withMember(sql, "evidence", "$.possiblyCreated", ["terraform_data.a"])} WHERE id = ${runId}`
})

const refusal = Effect.fnUntraced(function* (planRunId: RunId, acknowledged?: ReadonlyArray<"left_over_state">) {
  const { context } = yield* TestPlane
  const request = acknowledged === undefined ? {} : { acknowledged }
  return yield* Effect.flip((yield* RunCommands).Approve(planRunId, { context, ...request }))
})

describe("Uncertain state", () => {
  tests.live(
    "a plan that is based on uncertain state starts with a diagnostic, and its approver must acknowledge the codes",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const runs = yield* Runs
        const runCommands = yield* RunCommands
        const { capsuleId, record } = yield* withOrphanedState("left-over")
        const plan = yield* replanned(capsuleId)
        expect(plan.diagnostics?.[0]?.summary).toContain("left a state behind")
        expect(plan.diagnostics?.[0]?.detail).toContain(record.id)
        expect(plan.diagnostics?.[0]?.detail).toContain("adopt or discard it")

        const refused = yield* refusal(plan.id)
        expect(refused.code).toBe("failed_precondition")
        expect(refused.message).toContain("--acknowledge left_over_state")
        const waiting = yield* standing(plan.id)
        expect(waiting.approvals).toEqual([])
        expect(waiting.uncertain).toMatchObject([{ code: "left_over_state", acknowledged: false }])

        const leftOvers = (yield* capsulesWithOrphanedStates(yield* SqlClient.SqlClient, workspaceId)).filter(
          ({ id }) => id === capsuleId
        )
        expect(attentionOf({ leftOvers })).toMatchObject([{ kind: "uncertain_ground", capsuleId, runId: record.runId }])

        yield* runCommands.Approve(plan.id, { context, acknowledged: ["left_over_state"] })
        expect((yield* standing(plan.id)).uncertain).toMatchObject([{ code: "left_over_state", acknowledged: true }])
        const { value } = yield* runs.apply(context, plan.id, undefined)
        expect((yield* settled(value.id)).status).toBe("succeeded")
      })
  )

  tests.live("a plan needs no acknowledgement once the uncertain state is adopted or discarded", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* RunCommands
      const adopted = yield* withOrphanedState("adopted")
      yield* adopt(adopted.capsuleId, adopted.record.id)
      const discarded = yield* withOrphanedState("discarded")
      yield* (yield* CapsuleCommands).DiscardOrphanedState(discarded.capsuleId, {
        context,
        leftOverStateId: discarded.record.id
      })
      for (const { capsuleId } of [adopted, discarded]) {
        const plan = yield* replanned(capsuleId)
        expect((yield* standing(plan.id)).uncertain).toBeUndefined()
        expect((yield* runs.Approve(plan.id, { context })).status).toBe("succeeded")
      }
    })
  )

  tests.live("svc rejects the approval of a plan if an uncertain state arrives after the plan was created", () =>
    Effect.gen(function* () {
      const capsule = yield* active("before-approval", pureModule)
      const plan = yield* replanned(capsule.capsule.id)
      expect(plan.diagnostics ?? []).toEqual([])
      yield* left(capsule, "handed_in")
      expect((yield* refusal(plan.id, ["left_over_state"])).message).toContain("--acknowledge handed_in_state")
      expect((yield* standing(plan.id)).approvals).toEqual([])
    })
  )

  tests.live(
    "an approved plan is not applied after an uncertain state arrives, until somebody acknowledges that state",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const runs = yield* Runs
        const runCommands = yield* RunCommands
        const capsule = yield* active("before-apply", pureModule)
        yield* left(capsule, "unreadable", "first")
        const plan = yield* replanned(capsule.capsule.id)
        yield* runCommands.Approve(plan.id, { context, acknowledged: ["left_over_state"] })
        // A second leftover state with the same reason code but different contents.
        yield* left(capsule, "unreadable", "second")
        expect((yield* applyRefused(plan.id)).message).toContain("--acknowledge left_over_state")
        const row = yield* (yield* RunLedger).find(plan.id)
        if (row === undefined) return yield* Effect.die("no plan")
        expect(yield* (yield* Approvals).obstacleAtStart(row)).toContain("uncertain")
        expect((yield* refusal(plan.id)).code).toBe("failed_precondition")
        yield* runCommands.Approve(plan.id, { context, acknowledged: ["left_over_state"] })
        const { value } = yield* runs.apply(context, plan.id, undefined)
        expect((yield* settled(value.id)).status).toBe("succeeded")
      })
  )

  tests.live("a Capsule whose apply may have created objects stays uncertain until a later apply succeeds", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const capsule = yield* active("possibly", pureModule)
      yield* interrupted(capsule.apply.id)
      const plan = yield* replanned(capsule.capsule.id)
      expect(plan.diagnostics?.[0]?.detail).toContain("terraform_data.a")
      expect((yield* refusal(plan.id)).message).toContain("--acknowledge possibly_created")
      yield* runCommands.Approve(plan.id, { context, acknowledged: ["possibly_created"] })
      const { value } = yield* runs.apply(context, plan.id, undefined)
      expect((yield* settled(value.id)).status).toBe("succeeded")
      const next = yield* replanned(capsule.capsule.id)
      expect((yield* standing(next.id)).uncertain).toBeUndefined()
    })
  )

  tests.live("neither auto-update nor a group approves a plan that is based on uncertain state", () =>
    Effect.gen(function* () {
      const { commit, context, workspaceId } = yield* TestPlane
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const runs = yield* Runs
      const capsule = yield* active("automatic", pureModule)
      const { id, sourceId } = capsule.capsule
      yield* capsuleCommands.Update(id, { context, autoUpdate: { enabled: true, apply: true } })
      yield* left(capsule, "lineage_changed")
      yield* commit("automatic", { ...pureModule, "notes.txt": "new" })
      yield* settled((yield* (yield* Sources).sync(context, sourceId, {})).id)
      const decision = yield* eventually(
        Effect.map(capsules.autoUpdateDecisions(id, { limit: 1 }), ({ items }) => items[0]),
        (found) => found?.decision === "waiting"
      )
      expect([decision?.reason, decision?.message]).toEqual(["approval", expect.stringContaining("left_over_state")])

      yield* newCommit(id)
      const { runGroup } = yield* capsules.planUpdate(context, workspaceId)
      const waiting = Effect.map(runs.group(runGroup.id), (group) =>
        group.runs.find((run) => run.capsuleId === id && run.status === "waiting_approval")
      )
      const plan = yield* eventually(waiting, (run) => run !== undefined)
      const refused = yield* Effect.flip(runs.approveGroup(context, runGroup.id, {}))
      expect([refused.code, refused.message]).toEqual([
        "failed_precondition",
        expect.stringContaining("Nothing was approved")
      ])
      if (plan !== undefined) expect((yield* standing(plan.id)).approvals).toEqual([])
    })
  )
})
