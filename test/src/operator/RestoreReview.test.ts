import { describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { ConnectionStore } from "../../../actors/inputs/connection/ConnectionStore.ts"
import { Members } from "../../../actors/access/member/Members.ts"
import { as } from "../../support/Accounts.ts"
import { live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "./support/Server.ts"
import { later, ruleIn, restored, asked, signedIn, type Item } from "./support/RestoredInstallation.ts"
import { ConnectionCommands } from "../../../schema/commands/ConnectionCommands.ts"

describe("Restored installations", () => {
  live("a restored installation revokes every credential that grants access", () =>
    Effect.gen(function* () {
      const { ada, dataDir, session, told, token } = yield* restored
      expect(told.ended).toMatchObject({ sessions: 1, tokens: 1, grants: 1, links: 1 })
      const { services, url } = yield* serve(dataDir)
      const path = "/api/v1/workspaces"
      const byToken = yield* asked(url, path, { authorization: `Bearer ${Redacted.value(token)}` })
      expect([byToken.status, byToken.json.error.code]).toEqual([401, "invalid_token"])
      const bySession = yield* asked(url, path, { "x-svc-account-session": Redacted.value(session) })
      expect([bySession.status, bySession.json.error.code]).toEqual([401, "unauthenticated"])
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        for (const [live, name] of [
          [sql`SELECT 1 FROM setup_links WHERE used_at IS NULL AND purpose = 'reset_password'`, "links"],
          [sql`SELECT 1 FROM oidc_grants WHERE revoked_at IS NULL`, "grants"],
          [sql`SELECT 1 FROM oauth_access_tokens WHERE revoked_at IS NULL`, "access tokens"],
          [sql`SELECT 1 FROM oidc_refresh_tokens WHERE used_at IS NULL`, "refresh tokens"],
          [sql`SELECT 1 FROM oidc_codes WHERE used_at IS NULL`, "codes"],
          [sql`SELECT 1 FROM oidc_device_codes`, "device codes"],
          [sql`SELECT 1 FROM oidc_consents`, "consents"],
          [sql`SELECT 1 FROM users WHERE is_operator = 1`, "operators"]
        ] as const) {
          expect([name, (yield* live).length]).toEqual([name, 0])
        }
        const [event] = yield* sql<{
          data: string
        }>`SELECT data FROM audit_events WHERE action = 'installation.restore'`
        expect(JSON.parse(event?.data ?? "{}")).toMatchObject({ authenticated: true, sessions: 1, tokens: 1 })
      }).pipe(Effect.provide(services))
      // A new password can be set before the review.
      const link = yield* svc(["admin", "reset-password", "--email", ada.email, "--data-dir", dataDir, "--json"])
      expect([link.code, JSON.parse(link.out).setupLink]).toEqual([0, expect.stringContaining("/setup#")])
    })
  )

  live("access that may have been revoked after the backup stays disabled until an operator confirms it", () =>
    Effect.gen(function* () {
      const { ada, bob, connectionId, dataDir, review, told, workspaceId } = yield* restored
      const { services, url } = yield* serve(dataDir)
      const path = `/api/v1/workspaces/${workspaceId}`
      yield* Effect.gen(function* () {
        const connections = yield* ConnectionCommands
        const byAda = yield* signedIn(ada.subject)
        const byBob = yield* signedIn(bob.subject)
        const refused = yield* asked(url, path, byAda)
        expect([refused.status, refused.json.error]).toMatchObject([
          403,
          { code: "restore_unconfirmed", message: expect.stringContaining("svc admin restore-review") }
        ])
        expect((yield* asked(url, "/api/v1/workspaces", byAda)).json.workspaces).toEqual([])
        expect(yield* asked(url, "/readyz")).toEqual({ status: 200, json: { status: "ok", notice: "restore_review" } })
        const boot = yield* asked(url, "/api/v1/dashboard/bootstrap", byAda)
        expect(boot.json).toMatchObject({ workspaces: [], notices: ["restore_review"] })
        const looked = JSON.parse((yield* svc(["doctor", "--data-dir", dataDir, "--json"])).out)
        expect(looked.findings).toContainEqual(expect.objectContaining({ check: "restore", status: "warning" }))

        // The review contains the same list that the restore printed.
        const listed: ReadonlyArray<Item> = (yield* review()).json.review
        expect(listed).toEqual(told.review)
        expect(listed.map(({ kind }) => kind).toSorted()).toEqual([
          "connection",
          "membership",
          "membership",
          "membership",
          "output_share"
        ])
        const idOf = (text: string) => listed.find(({ description }) => description.includes(text))?.id ?? ""

        const unknown = yield* review(["confirm", idOf("ada@example.com as owner"), "mbr_unknown"])
        expect([unknown.code, unknown.error]).toEqual([5, expect.stringContaining("mbr_unknown")])
        expect((yield* review()).json.review).toEqual(listed)

        const mine = listed.filter(({ description }) => description.startsWith("ada@")).map(({ id }) => id)
        expect((yield* review(["confirm", ...mine])).code).toBe(0)
        expect((yield* asked(url, path, byAda)).status).toBe(200)
        expect((yield* asked(url, path, byBob)).json.error.code).toBe("restore_unconfirmed")

        // Another owner may revoke unconfirmed records, but cannot reactivate them.
        const members = yield* Members
        const scope = { workspaceId, acting: { subject: ada.subject } }
        const raised = yield* Effect.flip(members.update(as(ada.subject), scope, bob.subject, { status: "active" }))
        expect([raised.code, raised.message]).toEqual([
          "failed_precondition",
          expect.stringContaining("svc admin restore-review")
        ])
        const tested = yield* Effect.flip(connections.Test(connectionId, { context: as(ada.subject) }))
        expect([tested.code, tested.message]).toEqual([
          "failed_precondition",
          expect.stringContaining("svc admin restore-review")
        ])
        const store = yield* ConnectionStore
        const row = yield* store.find(connectionId)
        expect(row?.status).toBe("unconfirmed")
        if (row !== undefined) expect((yield* Effect.exit(store.secrets(row)))._tag).toBe("Failure")

        expect((yield* review(["remove", "oshare_a"])).code).toBe(0)
        expect((yield* review(["confirm", "--all"])).json.records).toHaveLength(2)
        expect((yield* connections.Test(connectionId, { context: as(ada.subject) })).connection.status).toBe("verified")
        expect((yield* asked(url, path, byBob)).status).toBe(200)
        expect((yield* asked(url, "/readyz")).json).toEqual({ status: "ok" })
        expect((yield* review()).json.review).toEqual([])
        const sql = yield* SqlClient.SqlClient
        expect(yield* sql`SELECT status FROM output_shares`).toMatchObject([{ status: "revoked" }])
        const events = yield* sql<{ action: string; count: number }>`SELECT action, COUNT(*) AS count FROM audit_events
          WHERE action LIKE 'restore.%' GROUP BY action ORDER BY action`
        expect(events.map(({ action, count }) => [action, count])).toEqual([
          ["restore.confirmed", 4],
          ["restore.removed", 1]
        ])
      }).pipe(Effect.provide(services))
    })
  )

  live("after a restore, Workspaces with restored rules and teams are listed until each Workspace is reviewed", () =>
    Effect.gen(function* () {
      const { dataDir, review, workspaceId } = yield* restored
      const { services } = yield* serve(dataDir)
      // This rule was written after the restore, so it needs no review.
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`INSERT INTO approval_rules ${sql.insert(ruleIn(workspaceId, "apr_c", later))}`
      ).pipe(Effect.provide(services))
      const { review: listed, rules } = (yield* review()).json
      expect(rules).toEqual([{ workspaceId, workspace: "acme", approvalRules: 2, teams: 1 }])
      const memberships = listed.flatMap(({ description, id, kind, workspace }: Item) =>
        kind === "membership" && workspace === "acme" ? [{ id, description }] : []
      )
      expect(memberships).toHaveLength(2)
      expect((yield* review(["confirm", memberships[0].id])).code).toBe(0)
      expect((yield* review()).json.rules).toEqual(rules)
      expect((yield* review(["remove", memberships[1].id])).code).toBe(0)
      expect((yield* review()).json.rules).toEqual([])
    })
  )

  live("a restored installation can be reviewed in its data folder while no server is running", () =>
    Effect.gen(function* () {
      const { dataDir, review, told } = yield* restored
      expect((yield* review()).json.review).toEqual(told.review)
      const text = yield* svc(["admin", "restore-review", "--data-dir", dataDir])
      expect(text.out).toContain("have no effect until you confirm them")
      expect(text.out).toMatch(/\n {2}acme {2}2 approval rules, 1 team$/)
      expect((yield* review(["remove", "--all"])).json.records).toHaveLength(5)
      const neither = yield* review(["confirm"])
      expect([neither.code, neither.error]).toEqual([2, expect.stringContaining("--all")])
      expect((yield* review()).json.review).toEqual([])
    })
  )
})
