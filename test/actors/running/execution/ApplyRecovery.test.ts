import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { derivedId } from "../../../../actors/base/Identity.ts"
import { ApplyRecovery } from "../../../../actors/running/execution/ApplyRecovery.ts"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Workspaces } from "../../../../actors/ledger/workspace/Workspaces.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { planned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { heldRun } from "../../../support/HeldRuns.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const module = { "main.tf": `resource "terraform_data" "a" { input = "a" }` }
const untouched = { code: "apply_interrupted", message: "nothing was changed" }
const interrupted = { code: "apply_interrupted", message: "something may have been changed" }

/** Inserts an apply that is recorded as running, but whose run folder and checkpoint no longer exist. */
const forgotten = Effect.fnUntraced(function* (branch: string, phase: "prepare" | "apply") {
  const sql = yield* SqlClient.SqlClient
  const { capsuleId, plan } = yield* planned(branch, module)
  const applyId = derivedId(RunId, "run", branch, "apply")
  yield* sql.withTransaction(
    Effect.gen(function* () {
      const ledger = yield* RunLedger
      yield* ledger.insert({
        id: applyId,
        workspaceId: plan.workspaceId,
        type: "apply",
        capsuleId,
        planRunId: plan.id,
        installConfigId: (yield* ledger.find(plan.id))?.install_config_id ?? undefined,
        trigger: "user",
        spec: {}
      })
      yield* heldRun(applyId)
      yield* (yield* RunJournal).append(applyId, "run.phase", { phase })
    })
  )
  return { capsuleId, applyId }
})

const recovered = Effect.fnUntraced(function* (applyId: RunId) {
  const run = yield* (yield* RunLedger).find(applyId)
  if (run === undefined) return yield* Effect.die("no Run")
  yield* (yield* ApplyRecovery).settle(run, { kind: "nothing" }, { untouched, interrupted })
})

describe.skipIf(Bun.which("terraform") === null)("Lost notes", () => {
  tests.live("an interrupted apply is treated as uncertain if its tool had started or was about to start", () =>
    Effect.gen(function* () {
      const { applyId, capsuleId } = yield* forgotten("lostfolder", "apply")
      yield* recovered(applyId)
      const run = yield* settled(applyId)
      expect([run.status, run.error?.message, run.possiblyCreated]).toEqual([
        "failed",
        interrupted.message,
        ["terraform_data.a"]
      ])
      const capsule = yield* (yield* Capsules).read(capsuleId)
      expect([capsule.status, capsule.runtimeSafety]).toEqual(["error", "unknown"])
    })
  )

  tests.live(
    "an apply that is interrupted before svc is about to start its tool is recorded as having changed nothing",
    () =>
      Effect.gen(function* () {
        const { applyId, capsuleId } = yield* forgotten("neverbegun", "prepare")
        yield* recovered(applyId)
        const run = yield* settled(applyId)
        expect([run.status, run.error?.message, run.possiblyCreated ?? []]).toEqual(["failed", untouched.message, []])
        const capsule = yield* (yield* Capsules).read(capsuleId)
        expect([capsule.status, capsule.runtimeSafety]).toEqual(["pending", "safe"])
      })
  )

  tests.live("svc rejects an apply if its Workspace was archived while the apply was queued", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const subject = context.actor.subject ?? ""
      const workspaces = yield* Workspaces
      const { capsuleId, plan } = yield* planned("archived-first", module)
      yield* (yield* RunCommands).Approve(plan.id, { context })
      yield* workspaces.update(context, subject, workspaceId, { archived: true })
      const apply = yield* (yield* Runs).apply(context, plan.id, undefined)
      const run = yield* settled(apply.value.id)
      expect([run.status, run.error?.code]).toEqual(["failed", "failed_precondition"])
      yield* workspaces.update(context, subject, workspaceId, { archived: false })
      expect((yield* (yield* Capsules).read(capsuleId)).status).toBe("pending")
    })
  )
})
