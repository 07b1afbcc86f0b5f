import { expect } from "bun:test"
import { ConfigProvider, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { Subject } from "../../../../schema/records/Ids.ts"
import { of, run } from "../../../actors/upkeep/retention/support/RetainedWorld.ts"
import { representativeRows } from "../../database/support/RepresentativeRows.ts"
import { serve } from "../../operator/support/Server.ts"
import { folder, live, svc } from "../support/CommandLine.ts"

const furnished = [
  "users",
  "workspaces",
  "memberships",
  "projects",
  "connections",
  "sources",
  "install_configs",
  "capsules"
]

const tokenOf = Effect.fnUntraced(function* (letter: string, ...scopes: ReadonlyArray<string>) {
  const issued = yield* (yield* AccessTokens).create(serviceContext, Subject.make(of("usr", letter)), {
    name: "t",
    scopes
  })
  return Redacted.value(issued.secret)
})

const setUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [table, values] of representativeRows) {
    if (furnished.includes(table)) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(values)} ON CONFLICT DO NOTHING`
  }
  // The inserted Capsule and configuration rows are incomplete, so the Run refers to neither row.
  const bare = { capsule_id: null, install_config_id: null }
  const id = yield* run("talked", { status: "waiting_approval", type: "plan", finished_at: null, ...bare })
  return { id, reader: yield* tokenOf("a", "read"), writer: yield* tokenOf("a", "read", "write") }
})

live(
  "the commands `svc run comment` and `svc run comments` add and list comments, escape them for the terminal, and require the right scope",
  () =>
    Effect.gen(function* () {
      const { services, url } = yield* serve(`${yield* folder}/data`)
      const { id, reader, writer } = yield* Effect.provide(setUp, services)
      const toldAs =
        (token: string) =>
        (...args: ReadonlyArray<string>) =>
          svc(args).pipe(
            Effect.provide(
              ConfigProvider.layer(
                ConfigProvider.fromEnvRecord({
                  HOME: "/nowhere",
                  SVC_TOKEN: token,
                  SVC_URL: url,
                  SVC_WORKSPACE: "alpha"
                })
              )
            )
          )
      const told = toldAs(writer)
      expect((yield* told("run", "comments", id)).out).toBe("Nobody has commented on this Run.")
      expect(yield* toldAs(reader)("run", "comment", id, "No")).toMatchObject({ code: 4 })
      const key = ["--idempotency-key", "comment-1"]
      expect((yield* told("run", "comment", id, "Wait\nfor \u202egnp.exe", ...key)).out).toBe(`Commented on ${id}.`)
      expect((yield* told("run", "comment", id, "Wait\nfor \u202egnp.exe", ...key)).out).toBe(`Commented on ${id}.`)
      const shown = (yield* toldAs(reader)("run", "comments", id)).out
      expect(shown).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC {2}\S.* {2}cmt_\w+\n {2}Wait\n {2}for U\+202Egnp\.exe$/)
      const { comments } = JSON.parse((yield* told("run", "comments", id, "--json")).out)
      expect(comments).toMatchObject([{ runId: id, text: "Wait\nfor \u202egnp.exe", author: of("usr", "a") }])
      const stranger = yield* told("run", "comment", id, "@x", "--mention", "nobody@example.com")
      expect(stranger).toMatchObject({ code: 5 })
    })
)
