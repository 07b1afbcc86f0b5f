import { afterAll, afterEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Members } from "../../../../actors/access/member/Members.ts"
import { CapsuleBackups } from "../../../../actors/commands/capsule/CapsuleBackups.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { expirePlans } from "../../../../actors/upkeep/cleanup/BackgroundCleanup.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import type { CommandContext } from "../../../../schema/commands/Command.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import type { CapsuleId, ConnectionId } from "../../../../schema/records/Ids.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import type { CommitFiles } from "../../../../src/testing/git-server/RepositoryWriter.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import {
  active,
  bound,
  demoConnection,
  demoModule,
  freshKey,
  note,
  replanned,
  settled
} from "../../../support/Journey.ts"
import { reviewed } from "../../../support/ReviewedPlan.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { admin, ruled, subjectOf } from "../../support/ApprovalSteps.ts"
import { approveChange, planLane, reasonsOf, speculated } from "../../support/ChangeSteps.ts"
import { branched, followed, looked, pullRef, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(300_000)
const tests = suite(testPlane())
afterAll(tests.dispose)
afterEach(() => tests.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM approval_rules`)))

const rule = ruled({ approvers: 1, planAuthorCounts: false, carryOver: "approval" })

/**
 * Returns a module with two private inputs and an input for an injected Output. No resource uses the second private input.
 */
const moduleOf = (text: string) => ({
  "main.tf": `
variable "secret" {
  type      = string
  sensitive = true
}
variable "unused" {
  type      = string
  sensitive = true
}
variable "from" { default = "nobody" }
resource "terraform_data" "kept" { input = "${text}" }
resource "terraform_data" "hidden" { input = var.secret }
resource "terraform_data" "given" { input = var.from }
`
})

/** Returns the file of a module whose only resource has this input. */
const plain = (text: string) => ({ "main.tf": `resource "terraform_data" "kept" { input = "${text}" }\n` })

/** Moves a branch to a commit of another branch, as a merge without a merge commit does. */
const merged = Effect.fnUntraced(function* (branch: string, commit: string | undefined) {
  yield* (yield* TestPlane).moveBranch(branch, commit)
})

/** Applies a plan after somebody other than its author has approved it. */
const appliedBy = Effect.fnUntraced(function* (approver: CommandContext, plan: Run) {
  const { context } = yield* TestPlane
  yield* (yield* RunCommands).Approve(plan.id, { context: approver, ...reviewed(plan) })
  const { value } = yield* (yield* Runs).apply(context, plan.id, undefined)
  expect((yield* settled(value.id)).status).toBe("succeeded")
})

const configured = Effect.fnUntraced(function* (capsuleId: CapsuleId, set: Readonly<Record<string, string>>) {
  const { context } = yield* TestPlane
  const { authorityGuard } = (yield* (yield* Capsules).read(capsuleId)).installConfigReAdoption
  const { value } = yield* (yield* CapsuleCommands).ConfigurationPlan(capsuleId, {
    context,
    request: { variablePatch: { set }, expected: { authorityGuard } },
    idempotency: freshKey()
  })
  return yield* settled(value.planRunId)
})

const rotated = Effect.fnUntraced(function* (id: ConnectionId) {
  const { context, notesDir } = yield* TestPlane
  yield* (yield* ConnectionCommands).Update(id, {
    context,
    request: { values: { DEMO_TOKEN: "a newer token", DEMO_DIR: notesDir } }
  })
})

/** Commits files on the branch `<lane>-change`, and merges them into the lane, while a rule carries approvals over. */
const changed = Effect.fnUntraced(function* ({ adoptedSourceRevision, name, sourceId }: Capsule, files: CommitFiles) {
  const { commit, context, moveBranch } = yield* TestPlane
  yield* moveBranch(`${name}-change`, adoptedSourceRevision?.resolvedCommit)
  yield* moveBranch(name, yield* commit(`${name}-change`, files))
  yield* settled((yield* (yield* Sources).sync(context, sourceId, {})).id)
  yield* rule
})

/** Restores the newest backup of the Capsule, which starts a new authority epoch. */
const restored = Effect.fnUntraced(function* (approver: CommandContext, capsuleId: CapsuleId) {
  const { context, workspaceId } = yield* TestPlane
  const backup = yield* (yield* Capsules).backup(context, workspaceId, capsuleId)
  const { value } = yield* (yield* CapsuleBackups).restorePlan(context, workspaceId, backup.id, {}, undefined)
  yield* appliedBy(approver, yield* settled(value.id))
})

describe.skipIf(Bun.which("terraform") === null)("An approved change", () => {
  tests.live(
    "an approved change needs another approval if a private input or an injected Output has actually changed",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const { capsule: producer } = yield* active("producer", { "main.tf": `output "name" { value = "first" }` })
        const { capsule } = yield* active("ground", moduleOf("one"), {
          variables: { secret: "private", unused: "private too" }
        })
        yield* changed(capsule, moduleOf("two"))
        const approver = yield* admin
        const replan = replanned(capsule.id)
        const alterations = {
          "a private input that no resource uses": [
            ["authority", "configuration", "state"],
            Effect.gen(function* () {
              yield* appliedBy(approver, yield* configured(capsule.id, { unused: "another" }))
              const plan = yield* replan
              // Injects the Output before the next change is planned.
              yield* (yield* Dependencies).create(context, capsule.id, {
                producerCapsuleId: producer.id,
                mode: "published_output",
                outputs: [{ from: "name", to: "from", required: true }]
              })
              return plan
            })
          ],
          "an injected Output": [
            ["change", "inputs"],
            Effect.gen(function* () {
              yield* commit("producer", { "main.tf": `output "name" { value = "second" }` })
              yield* appliedBy(approver, yield* planLane(producer.id, producer.sourceId))
              return yield* replan
            })
          ],
          // A configuration plan uses the adopted commit, so the change and the files also differ.
          "a private input": [
            ["authority", "change", "configuration", "files"],
            configured(capsule.id, { secret: "another" })
          ]
        } as const
        for (const [what, [codes, altered]] of Object.entries(alterations)) {
          yield* sql`DELETE FROM change_approvals`
          yield* approveChange(approver, yield* speculated(capsule.id, "ground-change"))
          const plan = yield* altered
          expect([what, plan.status, plan.carriedFrom]).toEqual([what, "waiting_approval", undefined])
          expect([what, [...new Set(reasonsOf(plan))].toSorted()]).toEqual([what, [...codes]])
        }
      })
  )

  tests.live("an approved change needs another approval if its Connection has been rotated, but not otherwise", () =>
    Effect.gen(function* () {
      const files = (name: string) => ({ "main.tf": demoModule(note(name)) })
      const connection = yield* demoConnection("a token")
      const { capsule } = yield* active("rotation", files("one"), {
        options: { providerBindings: [bound(connection.id)] }
      })
      yield* changed(capsule, files("two"))
      const change = yield* speculated(capsule.id, "rotation-change")
      yield* approveChange(yield* admin, change)
      const carried = yield* replanned(capsule.id)
      expect([carried.status, carried.carriedFrom?.runId]).toEqual(["succeeded", change.id])
      yield* rotated(connection.id)
      const plan = yield* replanned(capsule.id)
      expect(plan.changeDigest).toBe(change.changeDigest ?? "")
      expect([plan.status, new Set(reasonsOf(plan))]).toEqual(["waiting_approval", new Set(["connection"])])
    })
  )

  tests.live(
    "an approved change needs another approval after its approver is removed, or after its Capsule is restored",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const { capsule } = yield* active("epoch", plain("one"))
        yield* changed(capsule, plain("two"))
        const change = yield* speculated(capsule.id, "epoch-change")
        const scope = { workspaceId, acting: { subject: subjectOf(context) } }
        const [removed, demoted, other] = [yield* admin, yield* admin, yield* admin]
        yield* approveChange(removed, change)
        yield* (yield* Members).remove(context, scope, subjectOf(removed))
        expect(reasonsOf(yield* replanned(capsule.id))).toEqual(["approver"])
        yield* approveChange(demoted, change)
        const carried = yield* replanned(capsule.id)
        expect([carried.status, carried.carriedFrom?.runId]).toEqual(["succeeded", change.id])
        // A carried-over approval no longer counts once its approver is no longer eligible.
        yield* (yield* Members).update(context, scope, subjectOf(demoted), { role: "member" })
        const refused = yield* Effect.flip((yield* Runs).apply(context, carried.id, undefined))
        expect([refused.code, refused.message]).toEqual([
          "failed_precondition",
          expect.stringContaining("1 more approval")
        ])

        yield* approveChange(other, change)
        yield* restored(other, capsule.id)
        const plan = yield* replanned(capsule.id)
        expect([plan.status, reasonsOf(plan).toSorted()]).toEqual(["waiting_approval", ["authority", "state"]])
      })
  )

  tests.live(
    "an approved change needs another approval even if the only difference is hidden behind an unknown value",
    () =>
      Effect.gen(function* () {
        const { commit, moveBranch } = yield* TestPlane
        const { capsule } = yield* active("unknown", plain("one"))
        const base = capsule.adoptedSourceRevision?.resolvedCommit
        const behind = (text: string) => ({
          "main.tf": `${plain("one")["main.tf"]}
          resource "terraform_data" "later" {}
          resource "terraform_data" "behind" { input = "\${terraform_data.later.id}-${text}" }`
        })
        yield* moveBranch("unknown-change", base)
        yield* commit("unknown-change", behind("reviewed"))
        const change = yield* speculated(capsule.id, "unknown-change")
        yield* rule
        yield* approveChange(yield* admin, change)
        yield* commit("unknown", behind("not reviewed"))
        const plan = yield* planLane(capsule.id, capsule.sourceId)
        expect(plan.changeDigest).toBe(change.changeDigest ?? "")
        expect([plan.status, reasonsOf(plan)]).toEqual(["waiting_approval", ["files"]])
      })
  )

  tests.live(
    "an approved change needs another approval if the base changed other files of the module before the merge",
    () =>
      Effect.gen(function* () {
        const { commit, moveBranch } = yield* TestPlane
        const { capsule } = yield* active("moved", plain("one"))
        yield* moveBranch("moved-change", capsule.adoptedSourceRevision?.resolvedCommit)
        yield* commit("moved-change", plain("two"))
        const change = yield* speculated(capsule.id, "moved-change")
        expect(change.base?.standing).toBe("current")
        yield* rule
        yield* approveChange(yield* admin, change)
        const other = { "other.tf": `resource "terraform_data" "other" { input = "of somebody else" }\n` }
        yield* commit("moved", { ...plain("one"), ...other })
        yield* commit("moved", { ...plain("two"), ...other })
        const plan = yield* planLane(capsule.id, capsule.sourceId)
        expect([plan.status, reasonsOf(plan)]).toEqual(["waiting_approval", ["change", "files"]])
        expect(new Set(plan.differsFrom?.lines.map(({ side }) => side))).toEqual(new Set(["planned"]))
        // A changed file prevents the approval from carrying over, even if the file does not affect the plan.
        yield* commit("moved", { ...plain("two"), "comment.tf": "# Nothing" })
        const quiet = yield* planLane(capsule.id, capsule.sourceId)
        expect([quiet.status, reasonsOf(quiet)]).toEqual(["waiting_approval", ["files"]])
      })
  )

  tests.live("an approved change needs another approval after a force-push to its pull request", () =>
    Effect.gen(function* () {
      const { base, capsule, secret, source } = yield* followed("forced", plain("one"), {
        pullRequests: "own_branches"
      })
      yield* rule
      const headOf = Effect.fnUntraced(function* (text: string) {
        const head = yield* branched(base, "forced-topic", plain(text))
        yield* pullRef(7, head)
        yield* looked(source.id, secret)
        const { capsules } = yield* readOf(source.id, 7)
        const runId = capsules?.[0]?.run?.id
        return { head, run: runId === undefined ? yield* Effect.die("no plan") : yield* settled(runId) }
      })
      const approved = yield* headOf("two")
      const approver = yield* admin
      yield* approveChange(approver, approved.run)
      const forced = yield* headOf("three")
      yield* merged("forced", forced.head)
      yield* looked(source.id, secret)
      const plan = yield* planLane(capsule.id, source.id)
      expect([plan.status, reasonsOf(plan)]).toEqual(["waiting_approval", ["change", "files"]])
      expect(plan.differsFrom).toMatchObject({ runId: approved.run.id, pullRequestNumber: 7, commit: approved.head })
      yield* approveChange(approver, forced.run)
      expect((yield* replanned(capsule.id)).carriedFrom).toMatchObject({ runId: forced.run.id, pullRequestNumber: 7 })
    })
  )

  tests.live(
    "an approval of a change carries over to the next plan if the first plan expired, but does not carry over to any plan after an apply",
    () =>
      Effect.gen(function* () {
        const { commit, moveBranch } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const { capsule } = yield* active("expired", plain("one"))
        yield* moveBranch("expired-change", capsule.adoptedSourceRevision?.resolvedCommit)
        yield* merged("expired", yield* commit("expired-change", plain("two")))
        const change = yield* speculated(capsule.id, "expired-change")
        yield* rule
        const approver = yield* admin
        yield* approveChange(approver, change)
        const first = yield* planLane(capsule.id, capsule.sourceId)
        expect(first.carriedFrom?.runId).toBe(change.id)
        yield* sql`UPDATE runs SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${first.id}`
        yield* expirePlans
        expect((yield* (yield* Runs).read(first.id)).status).toBe("expired")
        const second = yield* replanned(capsule.id)
        expect(second.carriedFrom?.runId).toBe(change.id)
        const { context } = yield* TestPlane
        const { value } = yield* (yield* Runs).apply(context, second.id, undefined)
        expect((yield* settled(value.id)).status).toBe("succeeded")
        // The approval was used up when the change was applied, so it does not count again when the lane returns to the same
        // contents.
        yield* commit("expired", plain("one"))
        yield* appliedBy(approver, yield* planLane(capsule.id, capsule.sourceId))
        yield* commit("expired", plain("two"))
        const again = yield* planLane(capsule.id, capsule.sourceId)
        expect([again.status, again.carriedFrom]).toEqual(["waiting_approval", undefined])
      })
  )
})
