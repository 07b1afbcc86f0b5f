import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { awaitRun } from "../../../../actors/ledger/run/RunJournal.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import { suite } from "../../../support/Effect.ts"
import { active, freshKey, replanned, settled, stepped } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }))
afterAll(tests.dispose)

const files = (more: Readonly<Record<string, string>> = {}) => ({
  ...pureModule,
  "extra.tf": "# first\n",
  "docs/about.md": "first\n",
  ...more
})

/** Syncs the lane of the Capsule, so that svc knows its newest commit. */
const synced = Effect.fnUntraced(function* (capsule: Capsule) {
  const { context } = yield* TestPlane
  const run = yield* (yield* SourceCommands).Sync(capsule.sourceId, { context, intent: "manual_plan", trigger: "user" })
  yield* awaitRun(run.id)
})

const planOf = Effect.fnUntraced(function* (capsule: Capsule, ref: string, speculative = true) {
  const { context } = yield* TestPlane
  const request = { ref, ...(speculative ? { speculative } : {}) } as const
  const { value } = yield* (yield* RevisionPlans).create(context, capsule.id, request, freshKey())
  const plan = yield* stepped((yield* RevisionPlanCommands).Reconcile(value.id, { context }))
  if (plan.planRunId === undefined) return yield* Effect.die(new Error(JSON.stringify(plan.diagnostics)))
  return yield* settled(plan.planRunId)
})

describe("The base of a plan's ref", () => {
  tests.live("a plan of another ref reports the newer contents of the base that the plan would undo", () =>
    Effect.gen(function* () {
      const { commit, moveBranch } = yield* TestPlane
      const { apply, capsule } = yield* active("base", files())
      const left = apply.resolvedCommit ?? ""
      yield* moveBranch("branch", left)
      yield* commit("branch", files({ "new.tf": "# of the branch\n" }))
      const base = { ref: "base", resolvedCommit: left, mergeBase: left }
      expect((yield* planOf(capsule, "branch")).base).toEqual({ ...base, standing: "current", behind: 0 })

      const moved = yield* commit("base", files({ "docs/about.md": "second\n" }))
      yield* synced(capsule)
      const behind = { ...base, resolvedCommit: moved, behind: 1 }
      expect((yield* planOf(capsule, "branch")).base).toEqual({ ...behind, standing: "behind" })

      const changed = yield* commit("base", files({ "docs/about.md": "second\n", "extra.tf": "# second\n" }))
      yield* synced(capsule)
      const stale = { ...base, resolvedCommit: changed, behind: 2, standing: "stale" as const }
      expect((yield* planOf(capsule, "branch")).base).toEqual({
        ...stale,
        undoneFiles: ["extra.tf"],
        undoneFileCount: 1
      })
      // An ordinary plan of another ref also includes the base comparison, because its reviewers need the comparison too.
      expect((yield* planOf(capsule, "branch", false)).base).toMatchObject({ standing: "stale" })

      // The branch gets the same contents as the newest commit of the base, but does not contain that commit.
      yield* commit("branch", files({ "new.tf": "# of the branch\n", "extra.tf": "# second\n" }))
      expect((yield* planOf(capsule, "branch")).base).toMatchObject({ standing: "behind", behind: 2 })

      // The branch is rebased onto the newest commit of the base.
      yield* moveBranch("branch", changed)
      yield* commit("branch", files({ "extra.tf": "# third\n" }))
      expect((yield* planOf(capsule, "branch")).base).toMatchObject({
        standing: "current",
        mergeBase: changed,
        behind: 0
      })
      expect((yield* replanned(capsule.id)).base).toBeUndefined()
    })
  )

  tests.live("the base is unknown if it shares no commit with the ref, but svc still creates the plan", () =>
    Effect.gen(function* () {
      const { commit } = yield* TestPlane
      const { apply, capsule } = yield* active("unrelated", files())
      yield* commit("orphan", files({ "new.tf": "# another history\n" }))
      const run = yield* planOf(capsule, "orphan")
      expect(run.status).toBe("succeeded")
      expect(run.base).toEqual({ ref: "unrelated", resolvedCommit: apply.resolvedCommit ?? "", standing: "unknown" })
    })
  )
})
