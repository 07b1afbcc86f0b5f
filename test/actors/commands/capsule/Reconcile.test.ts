import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { SqlClient } from "effect/sql"
import { NoticeRow } from "../../../../actors/base/notice/NoticeRows.ts"
import { NoticeKind } from "../../../../schema/records/NoticeEndpoint.ts"
import { add } from "../../upkeep/retention/support/RetainedWorld.ts"
import { suite } from "../../../support/Effect.ts"
import {
  active,
  applied,
  bound,
  demoConnection,
  demoModule,
  freshKey,
  note,
  planned,
  settled
} from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

/** Returns the only note in the demo provider's cloud, with a function that edits the note from outside svc. */
const noteIn = (folder: string) => {
  const [name] = readdirSync(folder).filter((entry) => entry.endsWith(".json"))
  const file = join(folder, name ?? "")
  const read = () => JSON.parse(readFileSync(file, "utf8"))
  return {
    content: () => read().content,
    edit: (content: string) => writeFileSync(file, JSON.stringify({ ...read(), content }))
  }
}

describe.skipIf(Bun.which("terraform") === null)("Reconcile plans", () => {
  tests.live(
    "a reconcile plan reverts external changes at the deployed revision, and needs a review like any other plan",
    () =>
      Effect.gen(function* () {
        const { commit, context, notesDir, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        yield* add("notice_endpoints", {
          workspace_id: workspaceId,
          kinds: JSON.stringify(NoticeKind.literals),
          created_by: null
        })
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const connection = yield* demoConnection("reconcile-token-71c0")
        const bindings = { options: { providerBindings: [bound(connection.id)] } }
        const { capsule } = yield* active("reconcile", { "main.tf": demoModule(note("kept")) }, bindings)
        // No drift check has run yet, so the drift status is unknown.
        expect(capsule.driftStatus).toBe("unknown")

        const cloud = noteIn(notesDir)
        cloud.edit("edited by hand")
        const drift = yield* settled((yield* capsuleCommands.DriftCheck(capsule.id, { context })).id)
        expect([drift.drifted, (yield* capsules.read(capsule.id)).driftStatus]).toEqual([true, "drifted"])

        // A newer commit exists, but the plan restores the deployed commit.
        yield* commit("reconcile", { "main.tf": demoModule(`${note("kept")}${note("newer")}`) })
        yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
        const key = freshKey("reconcile")
        const asked = yield* capsuleCommands.ReconcilePlan(capsule.id, { context, idempotency: key })
        const again = yield* capsuleCommands.ReconcilePlan(capsule.id, { context, idempotency: key })
        expect([again.replayed, again.value.id]).toEqual([true, asked.value.id])
        const plan = yield* settled(asked.value.id)
        expect([plan.status, plan.purpose, plan.requiresApproval]).toEqual(["waiting_approval", "reconcile", true])
        expect(plan.resolvedCommit).toBe(capsule.adoptedSourceRevision?.resolvedCommit)
        expect(plan.resourceChanges?.map(({ actions, address }) => [address, actions])).toEqual([
          ["demo_note.kept", ["update"]]
        ])
        expect(cloud.content()).toBe("edited by hand")

        const apply = yield* applied(plan)
        expect([apply.status, apply.purpose]).toEqual(["succeeded", "reconcile"])
        expect(cloud.content()).toBe("hello kept")
        expect((yield* capsules.read(capsule.id)).driftStatus).toBe("none")

        const notices = yield* NoticeRow.rows(
          sql
        )`SELECT * FROM notices WHERE subject_id = ${capsule.id} ORDER BY created_at, id`
        const kinds = notices.map(({ kind }) => kind)
        for (const kind of ["drift.found", "update.available", "drift.gone"]) {
          expect([kind, kinds.filter((each) => each === kind).length]).toEqual([kind, 1])
        }
        for (const kind of ["run.waiting_approval", "run.approved", "run.applied"]) {
          expect([kind, kinds.filter((each) => each === kind).length]).toEqual([kind, 2])
        }
        const bodies = notices.map(({ data }) => data).join()
        expect([
          bodies.includes("reconcile-token"),
          bodies.includes("edited by hand"),
          bodies.includes("hello kept")
        ]).toEqual([false, false, false])
      }),
    60_000
  )

  tests.live("svc rejects a reconcile plan if nothing is deployed", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { capsuleId } = yield* planned("reconcile-new", { "main.tf": `resource "terraform_data" "a" {}` })
      const refused = yield* Effect.flip((yield* CapsuleCommands).ReconcilePlan(capsuleId, { context }))
      expect(refused.code).toBe("failed_precondition")
      expect(refused.message).toContain("never applied")
    })
  )
})
