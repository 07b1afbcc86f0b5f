import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { CommitFiles } from "../../../../src/testing/git-server/RepositoryWriter.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { nothingDue } from "../../../support/NothingDue.ts"
import { active, applied, freshKey, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting, greetingsOf } from "../../support/GreetingModule.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

/** Waits for all Runs that the Capsule planned automatically, and returns them newest first. */
const followed = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { workspaceId } = yield* TestPlane
  const runs = yield* Runs
  const { items } = yield* runs.list(workspaceId, { capsuleId }, { limit: 50 })
  return yield* Effect.forEach(
    items.filter(({ trigger }) => trigger === "auto_update"),
    ({ id }) => settled(id)
  )
})

/**
 * Waits until all due work is done. Due work starts after the transaction that requested it commits, and a later command for
 * the same record starts after the due work.
 */
const delivered = (capsuleId: CapsuleId) =>
  Effect.gen(function* () {
    const { context } = yield* TestPlane
    yield* nothingDue
    yield* (yield* CapsuleCommands).Update(capsuleId, { context })
  })

/** Waits until the Capsule has processed the newest commit of its lane, and returns the Capsule's automatic plans. */
const afterSync = Effect.fnUntraced(function* ({ id, sourceId }: Capsule) {
  const { context } = yield* TestPlane
  const sync = yield* (yield* Sources).sync(context, sourceId, {})
  yield* settled(sync.id)
  yield* delivered(id)
  return yield* followed(id)
})

/** Adds another commit, waits for the applies that follow, and returns the Capsule's automatic plans. */
const afterCommit = Effect.fnUntraced(function* (capsule: Capsule, branch: string, files: CommitFiles) {
  yield* (yield* TestPlane).commit(branch, files)
  yield* afterSync(capsule)
  yield* delivered(capsule.id)
  return yield* followed(capsule.id)
})

describe.skipIf(Bun.which("terraform") === null)("Lane following", () => {
  tests.live(
    "auto-update plans each commit once, and applies it if the owner enabled automatic applies",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const runCommands = yield* RunCommands
        const { capsule } = yield* active("follow", greeting("one"))
        expect(
          (yield* Effect.flip(
            capsuleCommands.Update(capsule.id, { context, autoUpdate: { enabled: false, apply: true } })
          )).code
        ).toBe("invalid_request")
        yield* capsuleCommands.Update(capsule.id, { context, autoUpdate: { enabled: true, apply: false } })

        yield* commit("follow", greeting("two"))
        // A sync for a reviewed plan starts nothing automatically.
        yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, { intent: "manual_plan" })).id)
        yield* delivered(capsule.id)
        expect(yield* followed(capsule.id)).toEqual([])
        const [plan, ...more] = yield* afterSync(capsule)
        expect(more).toEqual([])
        expect([plan?.type, plan?.status, plan?.createdBy]).toEqual(["plan", "waiting_approval", undefined])
        // The same commit is not planned again, even if its plan was cancelled.
        expect(yield* afterSync(capsule)).toHaveLength(1)
        yield* runCommands.Cancel(plan?.id ?? (yield* Effect.die("no plan")), { context })
        expect(yield* afterSync(capsule)).toHaveLength(1)
        expect(yield* greetingsOf(capsule.id)).toEqual(["one"])

        yield* capsuleCommands.Update(capsule.id, { context, autoUpdate: { enabled: true, apply: true } })
        // If the Workspace is archived between plan and apply, the plan waits.
        const sql = yield* SqlClient.SqlClient
        yield* createTrigger(
          sql,
          `CREATE TRIGGER archives AFTER UPDATE OF status ON runs WHEN NEW.status = 'waiting_approval'
          BEGIN UPDATE workspaces SET archived_at = '2026-01-01T00:00:00.000Z' WHERE id = NEW.workspace_id; END`
        )
        const [held] = yield* afterCommit(capsule, "follow", greeting("held"))
        expect([held?.type, held?.status]).toEqual(["plan", "waiting_approval"])
        yield* dropTrigger(sql, "archives")
        yield* sql`UPDATE workspaces SET archived_at = NULL`
        expect(yield* greetingsOf(capsule.id)).toEqual(["one"])

        const [apply, made] = yield* afterCommit(capsule, "follow", greeting("three"))
        expect([apply?.type, apply?.status, apply?.planRunId]).toEqual(["apply", "succeeded", made?.id])
        expect(made?.approvedBy).toBeUndefined()
        expect(made?.approvedAt).toBeDefined()
        const filter = { action: "capsule.auto_apply" }
        const history = yield* (yield* Audit).list(workspaceId, context.actor.subject ?? "", filter, { limit: 1 })
        expect(history.items[0]?.data).toEqual({
          planRunId: made?.id ?? "",
          planDigest: made?.planDigest ?? "",
          isolation: made?.isolation ?? "",
          network: made?.network ?? ""
        })
        expect(yield* greetingsOf(capsule.id)).toEqual(["three"])
        expect((yield* capsules.read(capsule.id)).status).toBe("active")

        // A plan that would destroy a resource still waits for a person.
        const gone = { "main.tf": `output "a" { value = "gone" }` }
        const [newest] = yield* afterCommit(capsule, "follow", gone)
        expect([newest?.type, newest?.status, newest?.planSummary?.destroy]).toEqual(["plan", "waiting_approval", 1])
        expect(yield* greetingsOf(capsule.id)).toEqual(["three"])
      }),
    120_000
  )

  tests.live(
    "auto-update does not apply an unapproved configuration",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const runs = yield* RunCommands
        const configurable = (text: string) => ({
          "main.tf": `
            variable "who" { default = "everybody" }
            resource "terraform_data" "a" { input = "${text} \${var.who}" }
            output "a" { value = terraform_data.a.output }`
        })
        const { capsule } = yield* active("unapproved", configurable("one"))
        yield* capsuleCommands.Update(capsule.id, { context, autoUpdate: { enabled: true, apply: true } })
        const { installConfigReAdoption } = yield* capsules.read(capsule.id)
        const changed = yield* capsuleCommands.ConfigurationPlan(capsule.id, {
          context,
          request: { variablePatch: { set: { who: "nobody" } }, expected: installConfigReAdoption },
          idempotency: freshKey()
        })
        yield* settled(changed.value.planRunId)
        yield* runs.Cancel(changed.value.planRunId, { context })

        const follow = (text: string) => afterCommit(capsule, "unapproved", configurable(text))
        const [plan] = yield* follow("two")
        expect([plan?.type, plan?.status]).toEqual(["plan", "waiting_approval"])
        expect(yield* greetingsOf(capsule.id)).toEqual(["one everybody"])

        // After a person has approved an apply, auto-update follows commits again.
        if (plan !== undefined) expect((yield* applied(plan)).status).toBe("succeeded")
        expect(yield* greetingsOf(capsule.id)).toEqual(["two nobody"])
        expect((yield* follow("three")).map(({ type }) => type)[0]).toBe("apply")
        expect(yield* greetingsOf(capsule.id)).toEqual(["three nobody"])
      }),
    120_000
  )
})
