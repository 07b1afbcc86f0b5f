import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eraseAccount } from "../../../../actors/access/account/ErasedAccount.ts"
import { UpstreamIdentities } from "../../../../actors/access/account/UpstreamIdentities.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { ApprovalRules } from "../../../../actors/access/approval/ApprovalRules.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { Teams } from "../../../../actors/access/team/Teams.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { CapsuleLedger } from "../../../../actors/ledger/capsule/CapsuleLedger.ts"
import { endMemberships } from "../../../../actors/ledger/workspace/MembershipRow.ts"
import { PullRequestCapsuleRow, PullRequestRow } from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import { PullRequestStore } from "../../../../actors/ledger/pull-request/PullRequestStore.ts"
import { PullRequestReportRow } from "../../../../actors/ledger/pull-request-report/PullRequestReports.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { PullRequestId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { commitOf } from "../../../support/forge/ForgeState.ts"
import { active, bound, demoConnection, demoModule, note } from "../../../support/Journey.ts"
import { newMember, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { ownerScope, ruled, subjectOf } from "../../support/ApprovalSteps.ts"

setDefaultTimeout(120_000)
const tests = suite(testPlane())
afterAll(tests.dispose)

const at = "2026-01-01T00:00:00.000Z"

/** A Capsule that binds a Connection, and the report of a pull request that affects the Capsule. Nothing sends the report. */
const reportedCapsule = Effect.gen(function* () {
  const { workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const connection = yield* demoConnection("a token")
  const { capsule } = yield* active(
    "marks",
    { "main.tf": demoModule(note("one")) },
    { options: { providerBindings: [bound(connection.id)] } }
  )
  const id = PullRequestId.make(`pr_${"m".repeat(20)}`)
  const head = commitOf("head")
  yield* sql`INSERT INTO pull_requests ${PullRequestRow.values(sql, {
    id,
    workspace_id: workspaceId,
    source_id: capsule.sourceId,
    number: 1,
    ref: "refs/pull/1/head",
    state: "open",
    head_commit: head,
    fork: "no",
    last_seen_at: at,
    created_at: at
  })}`
  yield* sql`INSERT INTO pull_request_capsules ${PullRequestCapsuleRow.values(sql, {
    pull_request_id: id,
    capsule_id: capsule.id,
    head_commit: head,
    touched: 1
  })}`
  yield* sql`INSERT INTO pull_request_reports ${PullRequestReportRow.values(sql, { id, workspace_id: workspaceId, seen: "" })}`
  const due = Effect.gen(function* () {
    const [row] = yield* PullRequestReportRow.rows(sql)`SELECT * FROM pull_request_reports WHERE id = ${id}`
    return row?.due ?? 0
  })
  const isMarkedBy = Effect.fnUntraced(function* <A, E, R>(change: Effect.Effect<A, E, R>) {
    const before = yield* due
    const result = yield* change
    return [(yield* due) > before, result] as const
  })
  return { capsule, connection, id, isMarkedBy, sql }
})

describe("Changes after which a report is due", () => {
  tests.live("every change of rules, people, teams, Connections, inputs and Sources marks the report", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const { capsule, connection, id, isMarkedBy, sql } = yield* reportedCapsule
      const marked: Record<string, boolean> = {}
      const after = Effect.fnUntraced(function* <A, E, R>(what: string, change: Effect.Effect<A, E, R>) {
        const [isMarked, result] = yield* isMarkedBy(change)
        marked[what] = isMarked
        return result
      })
      const scope = yield* ownerScope
      const acting = { workspaceId, acting: { subject: scope.subject } }
      const rules = yield* ApprovalRules
      const members = yield* Members
      const teams = yield* Teams
      const users = yield* Users
      const identities = yield* UpstreamIdentities

      const rule = yield* after("rule created", ruled({ approvers: 1 }))
      yield* after("rule changed", rules.update(context, scope, rule.id, { approvers: 2 }))
      yield* after("rule removed", rules.remove(context, scope, rule.id))

      const person = yield* after("member admitted", newMember(workspaceId, context, "admin"))
      const subject = subjectOf(person)
      yield* after("role changed", members.update(context, acting, subject, { role: "member" }))
      const team = yield* after(
        "team created",
        teams.create(context, scope, { name: "ops", members: [subject], grants: [] })
      )
      yield* after("team changed", teams.update(context, scope, team.id, { members: [] }))
      yield* after("team removed", teams.remove(context, scope, team.id))
      yield* after("account disabled", users.setStatus(context, subject, "disabled"))
      yield* after("account enabled", users.setStatus(context, subject, "active"))
      yield* after("address changed", transaction(sql)(users.setAddress(context, subject, "new@example.com", "mail")))
      yield* after(
        "identity linked",
        transaction(sql)(identities.link({ issuer: "https://id.example", subject: "ada" }, subject))
      )
      yield* after("member removed", members.remove(context, acting, subject))
      const second = subjectOf(yield* newMember(workspaceId, context, "admin"))
      yield* after("memberships ended", transaction(sql)(endMemberships(second)))
      yield* after("account erased", transaction(sql)(eraseAccount(second)))

      const connections = yield* ConnectionCommands
      const values = { DEMO_TOKEN: "another", DEMO_DIR: "/tmp" }
      yield* after("Connection rotated", connections.Update(connection.id, { context, request: { values } }))
      yield* after("Connection revoked", connections.Revoke(connection.id, { context }))

      const capsules = yield* CapsuleCommands
      yield* after(
        "Capsule changed",
        capsules.Update(capsule.id, { context, autoUpdate: { enabled: true, apply: false } })
      )
      // The Capsule uses an Output of a Capsule whose Outputs or shares have changed.
      yield* sql`INSERT INTO dependencies (id, workspace_id, producer_capsule_id, consumer_capsule_id, mode, outputs, created_at)
        VALUES (${"dep_a"}, ${workspaceId}, ${capsule.id}, ${capsule.id}, ${"variable_injection"}, ${"{}"}, ${at})`
      yield* after("Output changed", transaction(sql)((yield* CapsuleLedger).consumersUnread(capsule.id)))

      const store = yield* PullRequestStore
      const place = { pull_request_id: id, capsule_id: capsule.id }
      yield* after(
        "refusal recorded",
        transaction(sql)(store.planned(place, { run_id: null, refusal_code: "static_review", refusal_message: "No." }))
      )
      const row = yield* store.find(id)
      if (row !== undefined) yield* after("review recorded", transaction(sql)(store.judged(row, [])))

      const sources = yield* SourceCommands
      yield* after("Source changed", sources.Update(capsule.sourceId, { context, request: { autoSync: false } }))
      yield* after("Source disabled", sources.Update(capsule.sourceId, { context, request: { status: "disabled" } }))
      expect(Object.entries(marked).filter(([, isMarked]) => !isMarked)).toEqual([])
      expect(Object.keys(marked).length).toBeGreaterThan(20)

      // A closed pull request is not reported any more.
      yield* sql`UPDATE pull_requests SET state = 'closed' WHERE id = ${id}`
      expect((yield* isMarkedBy(ruled({ approvers: 1 })))[0]).toBe(false)
      yield* sql`UPDATE pull_requests SET state = 'merged', closed_at = ${at} WHERE id = ${id}`
      expect((yield* isMarkedBy(ruled({ approvers: 1 })))[0]).toBe(false)
    })
  )
})
