import { expect } from "bun:test"
import { ConfigProvider, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { PullRequestRow } from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { Subject } from "../../../../schema/records/Ids.ts"
import { of } from "../../../actors/upkeep/retention/support/RetainedWorld.ts"
import { representativeRows } from "../../database/support/RepresentativeRows.ts"
import { serve } from "../../operator/support/Server.ts"
import { folder, live, svc } from "../support/CommandLine.ts"

const furnished = ["users", "workspaces", "memberships", "projects", "connections", "sources", "pull_requests"]
const id = of("pr", "a")
const head = "a".repeat(40)

/** Creates the open pull request #1 and a token of an owner. */
const setUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [table, values] of representativeRows) {
    if (furnished.includes(table)) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(values)} ON CONFLICT DO NOTHING`
  }
  // svc must not look for the repository during the test.
  yield* sql`UPDATE sources SET auto_sync = 0`
  yield* sql`UPDATE pull_requests SET head_commit = ${head}`
  const issued = yield* (yield* AccessTokens).create(serviceContext, Subject.make(of("usr", "a")), {
    name: "t",
    scopes: ["read", "write"]
  })
  return Redacted.value(issued.secret)
})

live("svc pr plan allows exactly the head that the person names, and otherwise changes nothing", () =>
  Effect.gen(function* () {
    const { services, url } = yield* serve(`${yield* folder}/data`)
    const token = yield* Effect.provide(setUp, services)
    const pr = (...args: ReadonlyArray<string>) =>
      svc(["pr", ...args]).pipe(
        Effect.provide(
          ConfigProvider.layer(
            ConfigProvider.fromEnvRecord({ HOME: "/nowhere", SVC_TOKEN: token, SVC_URL: url, SVC_WORKSPACE: "alpha" })
          )
        )
      )
    const row = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [found] = yield* PullRequestRow.rows(sql)`SELECT * FROM pull_requests WHERE id = ${id}`
      return found
    }).pipe(Effect.provide(services))
    const setRole = (role: string) =>
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`UPDATE memberships SET role = ${role} WHERE subject = ${of("usr", "a")}`
      ).pipe(Effect.provide(services))
    const errorOf = ({ code, error }: { readonly code: number; readonly error: string }) => [
      code,
      JSON.parse(error).error.code
    ]

    // Not found: another number, another id, another Source.
    expect(errorOf(yield* pr("plan", "2", "--commit", head, "--json"))).toEqual([5, "not_found"])
    expect(errorOf(yield* pr("plan", of("pr", "z"), "--commit", head, "--json"))).toEqual([5, "not_found"])
    expect(errorOf(yield* pr("plan", "1", "--commit", head, "--source", "none", "--json"))).toEqual([5, "not_found"])
    // Wrong use: no number, no commit.
    expect(errorOf(yield* pr("plan", "one", "--commit", head, "--json"))).toEqual([2, "usage"])
    expect(errorOf(yield* pr("plan", "1", "--commit", "aaa", "--json"))).toEqual([2, "usage"])
    expect((yield* pr("plan", "1")).code).toBe(2)
    // Another commit than the head.
    const moved = yield* pr("plan", "1", "--commit", "b".repeat(40), "--json")
    expect(errorOf(moved)).toEqual([6, "guard_conflict"])
    expect(moved.error).toContain(`The head of #1 is ${head}`)
    // No permission.
    yield* setRole("member")
    expect(errorOf(yield* pr("plan", "1", "--commit", head, "--json"))).toEqual([4, "permission_denied"])
    expect(yield* row).toMatchObject({ planned_commit: null, attempt: 0 })

    yield* setRole("owner")
    const planned = yield* pr("plan", "#1", "--commit", head.slice(0, 7))
    expect(planned.code).toBe(0)
    expect(planned.out).toContain("`svc pr show 1` shows their Runs.")
    expect(yield* row).toMatchObject({ planned_commit: head, planned_by: of("usr", "a"), attempt: 1 })
    const { code, out } = yield* pr("plan", id, "--commit", head, "--json")
    expect([code, JSON.parse(out).pullRequest]).toMatchObject([
      0,
      { id, planned: { commit: head, by: of("usr", "a") } }
    ])
    // A closed pull request is not planned.
    yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE pull_requests SET state = 'closed'`).pipe(
      Effect.provide(services)
    )
    expect(errorOf(yield* pr("plan", "1", "--commit", head, "--json"))).toEqual([6, "failed_precondition"])
  })
)
