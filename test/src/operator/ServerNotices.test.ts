import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "./support/Server.ts"

const address = "https://hooks.example.test/canary-in-address"

/** Runs `svc admin notices` commands on a data folder, with or without a server. */
const journey = Effect.fnUntraced(function* (dataDir: string) {
  const admin = Effect.fnUntraced(function* (args: ReadonlyArray<string>, stdin = "") {
    const { code, error, out } = yield* svc(["admin", "notices", ...args, "--data-dir", dataDir, "--json"], stdin)
    return { code, error, out, answer: code === 0 ? JSON.parse(out) : undefined }
  })
  const added = yield* admin(
    ["add", "Operations", "-", "--kind", "backup.failed", "--kind", "run.failed"],
    `${address}\n`
  )
  expect(added.error).toBe("")
  const { endpoints, secret } = added.answer
  expect(secret).toStartWith("whsec_")
  expect(endpoints).toMatchObject([{ host: "https://hooks.example.test", kinds: ["backup.failed", "run.failed"] }])
  expect(endpoints[0].workspaceId).toBeUndefined()
  const { id } = endpoints[0]
  const rotated = yield* admin(["rotate", id])
  expect([rotated.answer.endpoints[0].secretVersion, rotated.answer.secret === secret]).toEqual([2, false])
  const changed = yield* admin(["set", id, "--state", "disabled"])
  expect(changed.answer.endpoints[0].state).toBe("disabled")
  yield* admin(["set", id, "--state", "active"])
  const tested = yield* admin(["test", id])
  expect(tested.answer.delivery.kind).toBe("endpoint.test")
  const listed = yield* admin(["deliveries", id])
  expect(listed.answer.deliveries).toHaveLength(1)
  const replayed = yield* admin(["replay", id, tested.answer.delivery.id])
  expect(replayed.answer.delivery.id).toBe(tested.answer.delivery.id)
  for (const { out } of [rotated, changed, tested, listed, replayed]) expect(out).not.toContain("canary")
  expect((yield* admin(["remove", id])).answer.endpoints).toEqual([])
  const refused = yield* admin(["add", "Inside", "https://127.0.0.1/canary"])
  expect([refused.code, refused.error.includes("canary")]).toEqual([1, false])
})

describe("the `svc admin notices` command", () => {
  live("the `svc admin notices` command changes the endpoints in the data folder when no server is running", () =>
    Effect.gen(function* () {
      const dataDir = `${yield* folder}/data`
      expect((yield* svc(["admin", "users", "list", "--data-dir", dataDir])).code).toBe(0)
      yield* journey(dataDir)
    })
  )

  live("svc admin notices changes the endpoints through the running server, and each change is audited", () =>
    Effect.gen(function* () {
      const dataDir = `${yield* folder}/data`
      const { services } = yield* serve(dataDir)
      yield* journey(dataDir)
      const actions = yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{ action: string }>`SELECT action FROM audit_events
          WHERE target_kind = 'notice_endpoint' AND workspace_id IS NULL ORDER BY rowid`
      ).pipe(Effect.provide(services))
      expect(actions.map(({ action }) => action.replace("notice_endpoint.", ""))).toEqual([
        "create",
        "secret.rotate",
        "update",
        "update",
        "test",
        "replay",
        "remove"
      ])
    })
  )
})
