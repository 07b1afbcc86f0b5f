import { createHash } from "node:crypto"
import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { live } from "../cli/support/CommandLine.ts"
import { servedPlane } from "./support/ServedPlane.ts"

setDefaultTimeout(60_000)

const at = "/api/v1/account/tokens/current"
const day = "2999-01-01T00:00:00.000Z"

describe("Presented tokens", () => {
  live("a token is refused while another store contains the same secret, and is accepted again afterwards", () =>
    Effect.gen(function* () {
      const { asPerson, call, sql, subject } = yield* servedPlane({ files: { "main.tf": "" } })
      const created = yield* call("POST", "/api/v1/account/tokens", {
        headers: asPerson,
        body: { name: "twice", scopes: ["read"] }
      })
      const { token } = created.body
      const current = call("GET", at, { headers: { authorization: `Bearer ${token}` } })
      expect((yield* current).status).toBe(200)

      const secret_hash = createHash("sha256").update(token).digest("hex")
      const [stored] =
        yield* sql`SELECT secret_hash FROM access_tokens WHERE token_id = ${created.body.token_record.token_id}`
      expect(stored).toEqual({ secret_hash })
      const [session = {}] = yield* sql<Readonly<Record<string, string | null>>>`SELECT * FROM account_sessions LIMIT 1`
      const stores = [
        ["account_sessions", { ...session, id: `ses_${"q".repeat(24)}`, secret_hash }],
        [
          "oauth_access_tokens",
          {
            id: `oat_${"q".repeat(24)}`,
            secret_hash,
            subject,
            client_id: "c",
            grant_id: "g",
            scopes: "[]",
            created_at: day,
            expires_at: day
          }
        ]
      ] as const
      for (const [table, row] of stores) {
        yield* sql`INSERT INTO ${sql(table)} ${sql.insert(row)}`.pipe(sql.withTransaction)
        const collided = yield* current
        expect([table, collided.status, collided.body.error.code]).toEqual([table, 401, "invalid_token"])
        expect(collided.headers.get("cache-control")).toBe("no-store")
        expect(
          (yield* call("GET", "/api/v1/workspaces", { headers: { authorization: `Bearer ${token}` } })).status
        ).toBe(401)
        yield* sql`DELETE FROM ${sql(table)} WHERE secret_hash = ${secret_hash}`.pipe(sql.withTransaction)
        expect((yield* current).status).toBe(200)
      }
    })
  )

  live("a bound token gets 503 while the membership cannot be read, and 403 if there is no membership", () =>
    Effect.gen(function* () {
      const { asPerson, call, sql, workspaceId } = yield* servedPlane({ files: { "main.tf": "" } })
      const { token } = (yield* call("POST", "/api/v1/account/tokens", {
        headers: asPerson,
        body: { name: "bound", scopes: ["read"], workspace_id: workspaceId }
      })).body
      const headers = { authorization: `Bearer ${token}` }
      const current = call("GET", at, { headers })
      expect((yield* current).body).toMatchObject({ workspace_id: workspaceId, workspace_role: "owner" })
      const unreadable = yield* Effect.acquireUseRelease(
        sql`ALTER TABLE memberships RENAME TO memberships_away`.pipe(sql.withTransaction),
        () => Effect.all([current, call("GET", `/api/v1/workspaces/${workspaceId}`, { headers })]),
        () => Effect.orDie(sql`ALTER TABLE memberships_away RENAME TO memberships`.pipe(sql.withTransaction))
      )
      for (const { body, status } of unreadable) {
        expect([status, body.error.code]).toEqual([503, "verification_unavailable"])
      }
      expect(unreadable[0].headers.get("pragma")).toBe("no-cache")
      expect((yield* current).status).toBe(200)
      yield* sql`UPDATE memberships SET status = 'suspended'`.pipe(sql.withTransaction)
      const inactive = yield* current
      expect([inactive.status, inactive.body.error.code]).toEqual([403, "workspace_membership_inactive"])
    })
  )
})
