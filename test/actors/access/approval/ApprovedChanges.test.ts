import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Users } from "../../../../actors/access/account/Users.ts"
import { approvedChanges } from "../../../../actors/access/approval/ApprovedChanges.ts"
import { planApproval } from "../../../../actors/access/approval/PlanApproval.ts"
import { Teams } from "../../../../actors/access/team/Teams.ts"
import { PullRequests } from "../../../../actors/ledger/pull-request/PullRequests.ts"
import { RunRow } from "../../../../actors/ledger/run/RunRow.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { admin, ownerScope, ruled, subjectOf } from "../../support/ApprovalSteps.ts"
import { approveChange } from "../../support/ChangeSteps.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, followed, looked, pullRef, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(120_000)
const tests = suite(testPlane())
afterAll(tests.dispose)

tests.live("lists decide about approved changes as the rules of now do, with a fixed number of queries", () =>
  Effect.gen(function* () {
    const { context, workspaceId } = yield* TestPlane
    const sql = yield* SqlClient.SqlClient
    const { base, secret, source } = yield* followed("batch", greeting("one"), { pullRequests: "own_branches" })
    const rule = yield* ruled({ approvers: 1, planAuthorCounts: false, carryOver: "approval" })
    const [first, second] = [yield* admin, yield* admin]
    const runs: Array<RunId> = []
    for (const number of [1, 2, 3, 4]) {
      yield* pullRef(number, yield* branched(base, `batch-${number}`, greeting(`change ${number}`)))
    }
    yield* looked(source.id, secret)
    for (const number of [1, 2, 3, 4]) {
      const id = (yield* readOf(source.id, number)).capsules?.[0]?.run?.id
      if (id === undefined) return yield* Effect.die(`no plan of #${number}`)
      runs.push(id)
      if (number > 2) continue
      yield* approveChange(first, yield* (yield* Runs).read(id))
    }
    const [one, two] = runs
    if (one === undefined || two === undefined) return yield* Effect.die("no plans")
    yield* approveChange(second, yield* (yield* Runs).read(two))

    const single = Effect.gen(function* () {
      const rows = yield* RunRow.rows(sql)`SELECT * FROM runs WHERE ${sql.in("id", runs)} ORDER BY id`
      const decided = yield* Effect.forEach(rows, (row) =>
        Effect.map(planApproval(row), ({ decision, given }) =>
          given.length > 0 && decision.state === "approved" ? [row.id] : []
        )
      )
      return decided.flat()
    })
    /** The approved plans, after the batch and the decision about each plan have agreed. */
    const approved = Effect.gen(function* () {
      const batch = [...(yield* approvedChanges(runs))].toSorted()
      expect(batch).toEqual(yield* single)
      const { items } = yield* (yield* PullRequests).list(workspaceId, { sourceId: source.id }, { limit: 100 })
      const listed = items.reduce((sum, { counts }) => sum + (counts?.approved ?? 0), 0)
      expect(listed).toBe(batch.length)
      const pages = yield* Effect.forEach([1, 2, 3, 4], (number) => readOf(source.id, number))
      expect(pages.filter(({ counts }) => counts?.approved === 1)).toHaveLength(batch.length)
      return batch.map((id) => runs.indexOf(id) + 1).toSorted()
    })

    expect(yield* approved).toEqual([1, 2])
    const changed = (columns: string) => sql`UPDATE approval_rules SET ${sql.literal(columns)} WHERE id = ${rule.id}`
    yield* changed("approvers = 2")
    expect(yield* approved).toEqual([2])
    yield* changed("approvers = 1, role = 'owner'")
    expect(yield* approved).toEqual([])
    yield* changed("role = 'admin', environment = 'elsewhere'")
    expect(yield* approved).toEqual([1, 2])
    yield* changed("environment = NULL")

    const roleOf = (subject: string, role: string) =>
      sql`UPDATE memberships SET role = ${role} WHERE subject = ${subject}`
    yield* roleOf(subjectOf(first), "member")
    expect(yield* approved).toEqual([2])
    // A team grants the role that the membership does not have, but only in another environment.
    const teams = yield* Teams
    const team = yield* teams.create(context, yield* ownerScope, {
      name: "reviewers",
      members: [subjectOf(first)],
      grants: [{ role: "admin", environment: "elsewhere" }]
    })
    expect(yield* approved).toEqual([2])
    yield* teams.update(context, yield* ownerScope, team.id, { grants: [{ role: "admin", environment: "test" }] })
    expect(yield* approved).toEqual([1, 2])
    yield* changed(`team_id = '${team.id}'`)
    expect(yield* approved).toEqual([1, 2])
    yield* teams.update(context, yield* ownerScope, team.id, { members: [subjectOf(second)] })
    expect(yield* approved).toEqual([2])
    yield* changed("team_id = NULL")
    yield* roleOf(subjectOf(first), "admin")
    const users = yield* Users
    yield* users.setStatus(context, subjectOf(second), "disabled")
    expect(yield* approved).toEqual([1, 2])
    yield* users.setStatus(context, subjectOf(first), "disabled")
    expect(yield* approved).toEqual([])
    yield* users.setStatus(context, subjectOf(first), "active")
    expect(yield* approved).toEqual([1, 2])

    // The author of a commit and the author of a plan do not count.
    yield* changed("commit_author_counts = 0")
    yield* sql`UPDATE source_snapshots SET authors = ${'["author@example.com"]'}`
    yield* sql`UPDATE change_bases SET commit_authors = ${'["other@example.com"]'} WHERE run_id = ${one}`
    yield* sql`UPDATE change_bases SET commit_authors = NULL WHERE run_id = ${two}`
    expect(yield* approved).toEqual([1])
    yield* sql`UPDATE users SET email = ${"other@example.com"} WHERE subject = ${subjectOf(first)}`
    expect(yield* approved).toEqual([])
    yield* changed("commit_author_counts = 1")
    yield* sql`INSERT INTO plan_authors (run_id, subject, part) VALUES (${one}, ${subjectOf(first)}, ${"starter"})`
    expect(yield* approved).toEqual([2])
    yield* sql`UPDATE change_approvals SET behind = ${JSON.stringify([subjectOf(context)])}`
    yield* sql`INSERT INTO plan_authors (run_id, subject, part) VALUES (${two}, ${subjectOf(context)}, ${"starter"})`
    expect(yield* approved).toEqual([])
    yield* sql`DELETE FROM approval_rules`
    expect(yield* approved).toEqual([1, 2])
    yield* sql`UPDATE change_approvals SET withdrawn_at = created_at WHERE run_id = ${one}`
    expect(yield* approved).toEqual([2])

    const statementsFor = Effect.fnUntraced(function* (ids: ReadonlyArray<RunId>) {
      let count = 0
      const counting = new Proxy(sql, {
        apply: (target, self, given) => {
          count += 1
          return Reflect.apply(target, self, given)
        }
      })
      yield* Effect.provideService(approvedChanges(ids), SqlClient.SqlClient, counting)
      return count
    })
    yield* ruled({ approvers: 1, commitAuthorCounts: false })
    yield* sql`UPDATE change_approvals SET withdrawn_at = NULL`
    const few = yield* statementsFor(runs.slice(0, 1))
    expect(few).toBeGreaterThan(3)
    expect(yield* statementsFor(runs)).toBe(few)
  })
)
