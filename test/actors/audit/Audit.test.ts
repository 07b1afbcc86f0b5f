import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../actors/audit/Audit.ts"
import { testFoundation } from "../../support/Actors.ts"
import { suite } from "../../support/Effect.ts"
import { namedCapsule, namedWorkspace } from "../../support/NamedIds.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"

const it = suite(testFoundation)
afterAll(it.dispose)

const actor = { kind: "user" as const, subject: "usr_aaaaaaaaaaaaaaaaaaaa" }
const workspace = namedWorkspace
const entry = (letter: string, id: string, capsuleId?: CapsuleId) => ({
  workspaceId: workspace(letter),
  actor,
  action: id.startsWith("r") ? "run.approve" : "member.add",
  target: { kind: "thing", id },
  capsuleId,
  data: { role: "admin", names: ["a"] },
  requestId: "req_1"
})

it.live("keeps what a committed transaction appended, and only that", () =>
  Effect.gen(function* () {
    const audit = yield* Audit
    const sql = yield* SqlClient.SqlClient
    yield* sql.withTransaction(audit.append(entry("a", "kept")))
    yield* Effect.ignore(sql.withTransaction(Effect.andThen(audit.append(entry("a", "dropped")), Effect.fail("no"))))
    const { items } = yield* audit.list(workspace("a"), "usr_1", {}, { limit: 50 })
    expect(items.map((event) => event.target.id)).toEqual(["kept"])
    expect(items[0]).toMatchObject({
      actor,
      action: "member.add",
      data: { role: "admin", names: ["a"] },
      requestId: "req_1"
    })
  })
)

it.live("pages through a Workspace's own history, newest first, by filter", () =>
  Effect.gen(function* () {
    const audit = yield* Audit
    for (let n = 0; n < 7; n++)
      yield* audit.append(entry("b", `${n % 2 === 0 ? "r" : "m"}${n}`, n < 3 ? namedCapsule(1) : undefined))
    yield* audit.append(entry("c", "foreign"))
    const seen: Array<string> = []
    let cursor: string | undefined
    do {
      const page = yield* audit.list(workspace("b"), "usr_1", {}, { limit: 3, cursor })
      seen.push(...page.items.map((event) => event.target.id))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(new Set(seen).size).toBe(7)
    const times = (yield* audit.list(workspace("b"), "usr_1", {}, { limit: 50 })).items.map(
      (event) => event.createdAt + event.id
    )
    expect(times).toEqual(times.toSorted().toReversed())
    const runs = yield* audit.list(
      workspace("b"),
      "usr_1",
      { action: "run.approve", capsuleId: namedCapsule(1) },
      { limit: 50 }
    )
    expect(runs.items.map((event) => event.target.id).sort()).toEqual(["r0", "r2"])
    const first = yield* audit.list(workspace("b"), "usr_1", {}, { limit: 2 })
    for (const [ws, subject, filter] of [
      [workspace("c"), "usr_1", {}],
      [workspace("b"), "usr_2", {}],
      [workspace("b"), "usr_1", { action: "run.approve" }]
    ] as const) {
      const refused = yield* Effect.flip(audit.list(ws, subject, filter, { limit: 2, cursor: first.nextCursor }))
      expect(refused.code).toBe("invalid_request")
    }
  })
)
