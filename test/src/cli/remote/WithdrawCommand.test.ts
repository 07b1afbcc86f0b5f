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

const approvalIds = ["cha_aaaaaaaaaaaaaaaaaaaaaaaa", "cha_bbbbbbbbbbbbbbbbbbbbbbbb"] as const

/** Creates a Run whose change two people have approved. */
const setUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [table, values] of representativeRows) {
    if (furnished.includes(table)) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(values)} ON CONFLICT DO NOTHING`
  }
  // The Run must have ended recently, because svc would remove a Run that ended long ago.
  const bare = { capsule_id: null, install_config_id: null, finished_at: new Date().toISOString() }
  const id = yield* run("changed", { status: "succeeded", type: "plan", ...bare })
  const [capsule] = yield* sql<{ id: string }>`SELECT id FROM capsules LIMIT 1`
  for (const [index, approval] of approvalIds.entries()) {
    yield* sql`INSERT INTO change_approvals ${sql.insert({
      id: approval,
      workspace_id: of("ws", "a"),
      capsule_id: capsule?.id ?? "",
      run_id: id,
      subject: of("usr", index === 0 ? "a" : "b"),
      behind: "[]",
      plan_digest: "sha256:1",
      change_digest: "hmac-sha256:1",
      resolved_commit: "0".repeat(40),
      rules: "",
      created_at: "2026-01-01T00:00:00.000Z"
    })}`
  }
  const issued = yield* (yield* AccessTokens).create(serviceContext, Subject.make(of("usr", "a")), {
    name: "t",
    scopes: ["read", "write"]
  })
  return { id, token: Redacted.value(issued.secret) }
})

live("svc run withdraw withdraws the chosen approval of a change, or the only approval if none is chosen", () =>
  Effect.gen(function* () {
    const { services, url } = yield* serve(`${yield* folder}/data`)
    const { id, token } = yield* Effect.provide(setUp, services)
    const [first, second] = approvalIds
    const withdraw = (...args: ReadonlyArray<string>) =>
      svc(["run", "withdraw", id, ...args]).pipe(
        Effect.provide(
          ConfigProvider.layer(
            ConfigProvider.fromEnvRecord({ HOME: "/nowhere", SVC_TOKEN: token, SVC_URL: url, SVC_WORKSPACE: "alpha" })
          )
        )
      )
    const unclear = yield* withdraw()
    expect(unclear.code).not.toBe(0)
    expect(unclear.error).toContain(`${first} by`)
    expect(unclear.error).toContain(`${second} by`)
    const unknown = yield* withdraw("--approval", "cha_cccccccccccccccccccccccc")
    expect(unknown.code).not.toBe(0)
    const chosen = JSON.parse((yield* withdraw("--approval", first, "--json")).out)
    expect(chosen.changeApproval).toMatchObject({ id: first, withdrawnBy: of("usr", "a") })
    expect((yield* withdraw()).out).toBe("The approval is withdrawn. It no longer counts for a plan after the merge.")
    expect((yield* withdraw()).error).toContain("there is nothing to withdraw")
  })
)
