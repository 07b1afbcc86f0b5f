import { expect, test } from "bun:test"
import { Context, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { Connections } from "../../../actors/inputs/connection/Connections.ts"
import { Sources } from "../../../actors/ledger/source/Sources.ts"
import { Workspaces } from "../../../actors/ledger/workspace/Workspaces.ts"
import { Capsule } from "../../../schema/records/Capsule.ts"
import { CapsuleId, RunId, SourceId } from "../../../schema/records/Ids.ts"
import { CredentialOrigin } from "../../../schema/records/CredentialOrigin.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { attentionOf } from "../../../src/http/handlers/Attention.ts"
import { capsules } from "../../browser/support/records/Capsules.ts"
import { it } from "../../support/Effect.ts"
import { servedPerson } from "../support/ServedPerson.ts"

const day = 24 * 60 * 60 * 1000
const inDays = (days: number) => new Date(Date.now() + days * day).toISOString()

it.live("the overview lists Connections that have unconfirmed origins, are about to expire, or have expired", () =>
  Effect.gen(function* () {
    const { cookie, services, subject, url } = yield* servedPerson
    const sql = Context.get(services, SqlClient.SqlClient)
    const connections = Context.get(services, Connections)
    const context: CommandContext = { actor: { kind: "user", subject }, actorKey: subject }
    const workspaces = Context.get(services, Workspaces)
    const [mine, other] = [
      yield* workspaces.create(context, subject, { handle: "mine" }),
      yield* workspaces.create(context, subject, { handle: "other" })
    ]
    const overview = Effect.fnUntraced(function* (workspaceId: string) {
      const address = `${url}/api/v1/dashboard/overview?workspaceId=${workspaceId}`
      const response = yield* Effect.promise(() => fetch(address, { headers: { cookie } }))
      expect(response.status).toBe(200)
      return (yield* Effect.promise(() => response.json())).attention
    })
    const provider = (displayName: string, days: number) =>
      connections.create(context, {
        workspaceId: mine.id,
        provider: "acme/short",
        displayName,
        values: { SHORT_TOKEN: "overview-canary-token" },
        expiresAt: inDays(days)
      })
    const soon = yield* provider("soon", 13)
    const over = yield* provider("over", 20)
    yield* provider("later", 15)
    const origin = CredentialOrigin.make("https://git.example.com")
    const deploy = yield* connections.create(context, {
      workspaceId: mine.id,
      provider: "git",
      kind: "git_https",
      recipeId: "git-https-token",
      displayName: "deploy",
      origins: [origin],
      values: { token: "overview-canary-git" }
    })
    yield* Context.get(services, Sources).create(context, {
      workspaceId: mine.id,
      name: "app",
      url: "https://git.example.com/app.git",
      authConnectionId: deploy.id
    })
    expect((yield* overview(mine.id)).map(({ kind }: { readonly kind: string }) => kind)).toEqual([
      "connection_expiring"
    ])

    // The first Connection comes from a release without origins. The second has expired.
    yield* sql`UPDATE connections SET origins = NULL, proposed_origins = '[]' WHERE id = ${deploy.id}`
    const past = "2020-01-01T00:00:00.000Z"
    yield* sql`UPDATE connections SET expires_at = ${past} WHERE id = ${over.id}`
    const about = (kind: string, connectionId: string, connectionName: string, since: unknown) => ({
      kind,
      connectionId,
      connectionName,
      since
    })
    expect(yield* overview(mine.id)).toEqual([
      about("origins_unconfirmed", deploy.id, "deploy", expect.any(String)),
      about("connection_expired", over.id, "over", past),
      about("connection_expiring", soon.id, "soon", soon.expiresAt)
    ])
    expect(yield* overview(other.id)).toEqual([])
  }).pipe(Effect.scoped, Effect.provide(platform))
)

test("a failing lane and paused automation need attention, and each entry links to its record", () => {
  const since = "2026-01-01T00:00:00.000Z"
  const sourceId = SourceId.make(`src_${"a".repeat(16)}`)
  const lane = { sourceId, sourceName: "app", ref: "gone", path: ".", since }
  expect(attentionOf({ lanes: [lane], pause: { at: since, by: "usr_a" } })).toEqual([
    { kind: "automation_paused", since },
    { kind: "lane_failed", sourceId, sourceName: "app", ref: "gone", since }
  ])
})

test("a Capsule with an approved plan is listed as ready to apply, and open updates are listed", () => {
  const at = "2026-01-01T00:00:00.000Z"
  const stale = (id: string) =>
    Schema.decodeUnknownSync(Capsule)({
      ...capsules[0],
      id,
      status: "stale",
      runtimeSafety: "safe",
      driftStatus: "none"
    })
  const plan = {
    runId: RunId.make("run_0000000000000001"),
    capsuleId: CapsuleId.make("cap_0000000000000001"),
    type: "plan",
    status: "succeeded",
    approvedAt: at,
    createdAt: at
  } as const
  const attention = attentionOf({
    needingAttention: [stale("cap_0000000000000001"), stale("cap_0000000000000002")],
    names: new Map([["cap_0000000000000001", "one"]]),
    approvedPlans: [plan],
    updates: [{ id: "rgrp_0000000000000001", createdAt: at }]
  })
  expect(attention.map(({ capsuleId, kind, runGroupId, runId }) => [kind, runId ?? runGroupId ?? capsuleId])).toEqual([
    ["approved", plan.runId],
    ["update_open", "rgrp_0000000000000001"],
    ["stale", "cap_0000000000000002"]
  ])
  expect(attention[0]?.capsuleName).toBe("one")
})
