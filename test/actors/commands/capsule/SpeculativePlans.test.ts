import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applying, freshKey, replanned, settled, stepped } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const moduleWith = (value: string) => ({ "main.tf": `resource "terraform_data" "kept" { input = "${value}" }\n` })

/** Creates a speculative plan of a ref, as a person would, and returns the finished Run. */
const speculated = Effect.fnUntraced(function* (capsuleId: CapsuleId, ref: string) {
  const { context } = yield* TestPlane
  const { value } = yield* (yield* RevisionPlans).create(context, capsuleId, { ref, speculative: true }, freshKey())
  const plan = yield* stepped((yield* RevisionPlanCommands).Reconcile(value.id, { context }))
  if (plan.planRunId === undefined) return yield* Effect.die(new Error(JSON.stringify(plan.diagnostics)))
  return { revisionPlan: plan, run: yield* settled(plan.planRunId) }
})

describe.skipIf(Bun.which("terraform") === null)("Speculative plans", () => {
  tests.live(
    "a speculative plan shows the changes of a ref, succeeds without a review, and can be neither approved nor applied",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const { capsule } = yield* active("shown", moduleWith("one"))
        const head = yield* commit("shown-change", moduleWith("two"))
        const { revisionPlan, run } = yield* speculated(capsule.id, "shown-change")
        expect(revisionPlan).toMatchObject({ phase: "reviewable", speculative: true, nextAction: "review_run" })
        expect(run).toMatchObject({
          type: "plan",
          status: "succeeded",
          speculative: true,
          requiresApproval: false,
          resolvedCommit: head,
          planSummary: { change: 1 },
          planDigest: expect.stringMatching(/^sha256:/),
          changeDigest: expect.any(String)
        })
        expect(run.expiresAt).toBeUndefined()
        expect(run.resourceChanges?.map(({ address }) => address)).toEqual(["terraform_data.kept"])
        const refused = [
          yield* Effect.flip((yield* RunCommands).Approve(run.id, { context })),
          yield* Effect.flip((yield* Runs).apply(context, run.id, undefined))
        ]
        for (const { code, message } of refused) {
          expect(code).toBe("failed_precondition")
          expect(message).toContain("change-approvals")
        }
        expect((yield* (yield* Runs).read(run.id)).approvedAt).toBeUndefined()
        const sql = yield* SqlClient.SqlClient
        expect(yield* sql`SELECT run_id FROM run_plans WHERE run_id = ${run.id}`).toEqual([])
        // A database constraint rejects the approval, in case a bug lets the code accept it.
        const decisions = [
          { approved_at: "2026-01-01T00:00:00.000Z" },
          { status: "waiting_approval" },
          { used_by_run_id: run.id },
          { requires_approval: 1 },
          { capsule_line: capsule.id }
        ]
        for (const decision of decisions) {
          const written = yield* Effect.exit(sql`UPDATE runs SET ${sql.update(decision)} WHERE id = ${run.id}`)
          expect([decision, written._tag]).toEqual([decision, "Failure"])
        }
      })
  )

  tests.live("a speculative plan neither supersedes other plans of its Capsule nor is superseded by them", () =>
    Effect.gen(function* () {
      const { commit, workspaceId } = yield* TestPlane
      const runs = yield* Runs
      const { capsule } = yield* active("apart", moduleWith("one"))
      yield* commit("apart", moduleWith("one again"))
      const waiting = yield* replanned(capsule.id)
      expect(waiting.status).toBe("waiting_approval")
      yield* commit("apart-change", moduleWith("two"))
      const first = (yield* speculated(capsule.id, "apart-change")).run
      expect((yield* runs.read(waiting.id)).status).toBe("waiting_approval")
      expect((yield* (yield* Capsules).read(capsule.id)).status).toBe(capsule.status)
      const apply = yield* applying(waiting)
      expect((yield* settled(apply.id)).status).toBe("succeeded")
      expect((yield* runs.read(first.id)).status).toBe("succeeded")
      const [latest] = yield* runs.latest(workspaceId, [capsule.id])
      expect(latest?.runId).toBe(apply.id)
      const listed = (speculative: boolean) =>
        Effect.map(runs.list(workspaceId, { capsuleId: capsule.id, speculative }, { limit: 10 }), ({ items }) =>
          items.map(({ id }) => id)
        )
      expect(yield* listed(true)).toEqual([first.id])
      expect(yield* listed(false)).not.toContain(first.id)
    })
  )
})
