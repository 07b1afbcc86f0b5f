import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { ApplySettlement } from "../../../../actors/running/execution/ApplySettlement.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { ConnectionStore } from "../../../../actors/inputs/connection/ConnectionStore.ts"
import { CredentialsInUse } from "../../../../actors/inputs/connection/CredentialsInUse.ts"
import { derivedId } from "../../../../actors/base/Identity.ts"
import { ApplyRecovery } from "../../../../actors/running/execution/ApplyRecovery.ts"
import { RunCheckpoints } from "../../../../actors/ledger/state/RunCheckpoints.ts"
import { holdOf } from "../../../../actors/ledger/run/RunHold.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { type CapsuleId, type ConnectionId, RunId, type StateVersionId } from "../../../../schema/records/Ids.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import {
  active,
  bound,
  demoConnection,
  demoModule,
  freshKey,
  note,
  planned,
  settled
} from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { heldRun, setRun } from "../../../support/HeldRuns.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { withoutMember } from "../../../support/Dialect.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const secret = "recovery-canary-secret-61af"
const module = {
  "main.tf": `
    variable "secret" {
      type      = string
      sensitive = true
    }
    resource "terraform_data" "a" { input = "a" }`
}
const given = (text: string) => ({ variables: { secret: text } })

type Left = Readonly<Record<string, string>>

/** The lineage for a Capsule that had no earlier state. */
const newLineage = "11111111-2222-3333-4444-555555555555"

const stateOf = (left: Left, lineage: string) =>
  Redacted.make(
    new TextEncoder().encode(
      JSON.stringify({
        version: 4,
        lineage,
        serial: 7,
        outputs: Object.fromEntries(Object.entries(left).map(([name, value]) => [name, { value, type: "string" }])),
        resources: []
      })
    )
  )

/** Creates a plan's apply in the form that is stored when the service is killed while the tool is running. */
const underWay = Effect.fnUntraced(function* (capsuleId: CapsuleId, plan: Run) {
  const { context } = yield* TestPlane
  const ledger = yield* RunLedger
  const applyId = derivedId(RunId, "run", plan.id, "apply")
  yield* (yield* RunCommands).Approve(plan.id, { context })
  yield* ledger.insert({
    id: applyId,
    workspaceId: plan.workspaceId,
    type: "apply",
    capsuleId,
    planRunId: plan.id,
    installConfigId: (yield* ledger.find(plan.id))?.install_config_id ?? undefined,
    baseStateVersionId: (yield* (yield* Capsules).read(capsuleId)).currentStateVersionId,
    trigger: "user",
    spec: {}
  })
  yield* heldRun(applyId)
  yield* setRun(plan.id, { used_by_run_id: applyId })
  // Removes the plan's list of public Outputs, because the recovered states contain Outputs that the plan lacks.
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(
    sql`UPDATE runs SET plan_details = ${withoutMember(sql, "plan_details", "$.publicOutputs")} WHERE id = ${plan.id}`
  )
  return applyId
})

/** Recovers the apply from a state with these Outputs, and returns each Output as stored, with public Outputs first. */
const recovered = Effect.fnUntraced(function* (capsuleId: CapsuleId, applyId: RunId, left: Left) {
  const ledger = yield* RunLedger
  const row = yield* ledger.find(applyId)
  if (row === undefined) return yield* Effect.die("no Run")
  const base = yield* (yield* StateVersions).find(row.base_state_version_id)
  const state = stateOf(left, base?.lineage ?? newLineage)
  yield* (yield* RunCheckpoints).save(holdOf(row), row.workspace_id, state)
  const error = { code: "apply_interrupted", message: "interrupted" }
  yield* (yield* ApplyRecovery).settle(row, { kind: "nothing" }, { untouched: error, interrupted: error })
  const ended = yield* settled(applyId)
  expect([ended.status, ended.error?.code]).toEqual(["failed", "apply_interrupted"])
  return yield* storedOf(capsuleId, ended.stateVersionId)
})

const storedOf = Effect.fnUntraced(function* (capsuleId: CapsuleId, stateVersionId: StateVersionId | undefined) {
  const published = (yield* (yield* Capsules).outputs(capsuleId)).map(({ name }) => name)
  const stored = yield* (yield* StateVersions).outputs(stateVersionId ?? null)
  const isPrivate = stored.filter(({ sealed_value, value }) => sealed_value !== null && value === null)
  return {
    published,
    private: Object.fromEntries(isPrivate.map(({ name, private_origins }) => [name, private_origins]))
  }
})

/** Copies the sealed value from one row to another. */
const sealedElsewhere = Effect.fnUntraced(function* (planId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE run_plans SET sealed_secrets = plan_file WHERE run_id = ${planId}`
})

const rotate = Effect.fnUntraced(function* (id: ConnectionId, token: string) {
  const { context, notesDir } = yield* TestPlane
  yield* (yield* ConnectionCommands).Update(id, {
    context,
    request: { values: { DEMO_TOKEN: token, DEMO_DIR: notesDir } }
  })
})

/** Creates an apply that received a Connection's values, which are replaced while the apply is running. */
const rotatedUnderWay = Effect.fnUntraced(function* (branch: string, before: string, after: string) {
  const connection = yield* demoConnection(before)
  const files = { "main.tf": demoModule(note(branch)) }
  const { capsuleId, plan } = yield* planned(branch, files, {
    options: { providerBindings: [bound(connection.id)] }
  })
  const row = yield* (yield* ConnectionStore).find(connection.id)
  if (row === undefined) return yield* Effect.die("no Connection")
  const applyId = yield* underWay(capsuleId, plan)
  yield* (yield* CredentialsInUse).hold(applyId, row)
  yield* rotate(connection.id, after)
  return { applyId, capsuleId, connectionId: connection.id }
})

const plain = { plain: "nothing secret" }

describe.skipIf(Bun.which("terraform") === null)("Killed applies", () => {
  tests.live(
    "recovered Outputs that repeat a secret of the plan in any form stay private, with the origin recorded",
    () =>
      Effect.gen(function* () {
        const { capsuleId, plan } = yield* planned("left-plan", module, given(secret))
        const applyId = yield* underWay(capsuleId, plan)
        const left = { ...plain, url: `https://u:${secret}@example.test/`, coded: btoa(secret) }
        expect(yield* recovered(capsuleId, applyId, left)).toEqual({
          published: ["plain"],
          private: { coded: '["var.secret"]', url: '["var.secret"]' }
        })
      })
  )

  tests.live("recovered Outputs that repeat a secret found only in the previous state stay private", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* CapsuleCommands
      const { capsule } = yield* active("left-state", module, given(secret))
      const later = "recovery-canary-later-90cd"
      const changed = yield* capsules.ConfigurationPlan(capsule.id, {
        context,
        request: {
          variablePatch: { set: { secret: later } },
          expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
        },
        idempotency: freshKey()
      })
      const applyId = yield* underWay(capsule.id, yield* settled(changed.value.planRunId))
      const stored = yield* recovered(capsule.id, applyId, { ...plain, earlier: secret, later })
      expect([stored.published, Object.keys(stored.private)]).toEqual([["plain"], ["earlier", "later"]])
    })
  )

  tests.live(
    "recovered Outputs that repeat any value that the Connection has had since the start of the apply stay private",
    () =>
      Effect.gen(function* () {
        const before = "recovery-canary-before-17be"
        const after = "recovery-canary-after-3c4d"
        const { applyId, capsuleId } = yield* rotatedUnderWay("left-rotated", before, after)
        expect(yield* recovered(capsuleId, applyId, { ...plain, old: `x ${before}`, renewed: `x ${after}` })).toEqual({
          published: ["plain"],
          private: { old: '["env.DEMO_TOKEN"]', renewed: '["env.DEMO_TOKEN"]' }
        })
      })
  )

  tests.live("all recovered Outputs are private if a secret is unknown", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const withheld = { published: [], private: { plain: null } }

      const unopened = yield* planned("left-unopened", module, given(secret))
      const first = yield* underWay(unopened.capsuleId, unopened.plan)
      yield* sealedElsewhere(unopened.plan.id)
      expect(yield* recovered(unopened.capsuleId, first, plain)).toEqual(withheld)

      const { applyId, capsuleId, connectionId } = yield* rotatedUnderWay(
        "left-lost",
        "lost-canary-1a",
        "lost-canary-2b"
      )
      yield* sql`UPDATE connections SET sealed_values = (SELECT hook_secret FROM sources LIMIT 1)
        WHERE id = ${connectionId}`
      expect(yield* recovered(capsuleId, applyId, plain)).toEqual(withheld)

      // Plans from earlier releases: a plan without its secrets, a plan with only some of its secrets, and a plan that was
      // deleted.
      for (const [branch, lose] of [
        ["left-unkept", (id: string) => sql`UPDATE run_plans SET sealed_secrets = NULL WHERE run_id = ${id}`],
        ["left-earlier", (id: string) => sql`UPDATE run_plans SET secret_rule = NULL WHERE run_id = ${id}`],
        ["left-gone", (id: string) => sql`DELETE FROM run_plans WHERE run_id = ${id}`]
      ] as const) {
        const made = yield* planned(branch, module, given(secret))
        const run = yield* underWay(made.capsuleId, made.plan)
        yield* lose(made.plan.id)
        expect(yield* recovered(made.capsuleId, run, plain)).toEqual(withheld)
      }
    })
  )
})

describe.skipIf(Bun.which("terraform") === null)("Ended applies", () => {
  tests.live("all recovered Outputs are private if the secrets of the plan or previous state cannot be decrypted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ended = Effect.fnUntraced(function* (capsuleId: CapsuleId, applyId: RunId) {
        const held = (yield* (yield* RunLedger).find(applyId)) ?? (yield* Effect.die("no Run"))
        yield* (yield* ApplySettlement).commit(holdOf(held), {
          exit: "succeeded",
          state: stateOf(plain, newLineage),
          lineage: newLineage,
          serial: 7,
          resourceCount: 0,
          outputs: [{ name: "plain", type: "string", value: Redacted.make("nothing secret"), sensitive: false }],
          changedAnything: true,
          possiblyCreated: [],
          sandboxKilled: false,
          evidence: {}
        })
        const run = yield* settled(applyId)
        expect(run.status).toBe("succeeded")
        return yield* storedOf(capsuleId, run.stateVersionId)
      })

      const sound = yield* planned("ended-sound", module, given(secret))
      const first = yield* underWay(sound.capsuleId, sound.plan)
      expect(yield* ended(sound.capsuleId, first)).toEqual({ published: ["plain"], private: {} })

      const unopened = yield* planned("ended-plan", module, given(secret))
      const second = yield* underWay(unopened.capsuleId, unopened.plan)
      yield* sealedElsewhere(unopened.plan.id)
      expect(yield* ended(unopened.capsuleId, second)).toEqual({ published: [], private: { plain: null } })

      const { context } = yield* TestPlane
      const { capsule } = yield* active("ended-state", module, given(secret))
      const plan = yield* settled((yield* (yield* CapsuleCommands).Plan(capsule.id, { context })).value.id)
      const third = yield* underWay(capsule.id, plan)
      yield* sql`UPDATE state_versions SET sealed_secrets = state WHERE id = ${capsule.currentStateVersionId ?? ""}`
      expect(yield* ended(capsule.id, third)).toEqual({ published: [], private: { plain: null } })
    })
  )
})
