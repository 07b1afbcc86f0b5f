import { describe, expect } from "bun:test"
import { Duration, Effect, FileSystem, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../actors/account/AccessTokens.ts"
import { Sessions } from "../../../actors/account/Sessions.ts"
import { Users } from "../../../actors/account/Users.ts"
import { serviceContext } from "../../../actors/Command.ts"
import { Connections } from "../../../actors/connection/Connections.ts"
import { ConnectionStore } from "../../../actors/connection/ConnectionStore.ts"
import { Members } from "../../../actors/member/Members.ts"
import { Pools } from "../../../actors/pool/Pools.ts"
import { newKeys, signedBy } from "../../../runner/agent/AgentKeyPair.ts"
import { helloText } from "../../../schema/agent/AgentProtocol.ts"
import { Workspaces } from "../../../actors/workspace/Workspaces.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { version } from "../../../src/Version.ts"
import { as, joinWorkspace } from "../../support/Accounts.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { agentClient, machineFacts as anyFacts } from "../http/support/TestAgent.ts"
import { serve } from "./support/Server.ts"

const machineFacts = { ...anyFacts, version }

const at = "2026-01-01T00:00:00.000Z"
const later = "2126-01-01T00:00:00.000Z"

const ruleIn = (workspaceId: string, id: string, writtenAt: string) => ({
  id,
  workspace_id: workspaceId,
  project_id: null,
  environment: null,
  approvers: 1,
  role: "admin",
  team_id: null,
  plan_author_counts: 0,
  commit_author_counts: 1,
  automation_counts: 0,
  created_at: writtenAt,
  updated_at: writtenAt
})

/** An installation with two people in one Workspace, a Connection, a share, and every kind of credential. */
const furnished = Effect.gen(function* () {
  const users = yield* Users
  const workspaces = yield* Workspaces
  const sql = yield* SqlClient.SqlClient
  const person = (name: string) =>
    users.create(serviceContext, { email: `${name}@example.com`, displayName: name, isOperator: name === "ada" })
  const ada = yield* person("ada")
  const bob = yield* person("bob")
  const workspace = yield* workspaces.create(as(ada.subject), ada.subject, { handle: "acme", type: "organization" })
  const other = yield* workspaces.create(as(ada.subject), ada.subject, { handle: "other", type: "organization" })
  const workspaceId = WorkspaceId.make(workspace.id)
  yield* joinWorkspace(ada.subject, workspaceId, bob.subject, "owner")
  const connection = yield* Effect.flatMap(Connections, (connections) =>
    connections.create(as(ada.subject), {
      workspaceId,
      provider: "example.test/acme/demo",
      displayName: "production",
      values: { DEMO_TOKEN: "a-token-value" }
    })
  )
  const { secret: token } = yield* Effect.flatMap(AccessTokens, (tokens) =>
    tokens.create(as(ada.subject), ada.subject, { name: "ci", scopes: ["read", "write"] })
  )
  const { secret: session } = yield* Effect.flatMap(Sessions, (sessions) =>
    sessions.open({ subject: ada.subject, method: "password" })
  )
  yield* sql`INSERT INTO output_shares ${sql.insert({ id: "oshare_a", from_workspace_id: workspace.id, to_workspace_id: other.id, producer_capsule_id: "cap_gone", outputs: "[]", status: "active", created_at: at, approved_at: at })}`
  yield* sql`INSERT INTO teams ${sql.insert({ id: "team_a", workspace_id: workspace.id, name: "sre", created_at: at, updated_at: at })}`
  yield* sql`INSERT INTO approval_rules ${sql.insert(ruleIn(workspace.id, "apr_a", at))}`
  yield* sql`INSERT INTO approval_rules ${sql.insert(ruleIn(workspace.id, "apr_b", at))}`
  yield* sql`INSERT INTO setup_links ${sql.insert({ id: "lnk_a", secret_hash: "h1", purpose: "reset_password", subject: bob.subject, created_at: at, expires_at: later, used_at: null })}`
  yield* sql`INSERT INTO oidc_grants ${sql.insert({ id: "grt_a", client_id: "app", subject: bob.subject, session_id: null, workspace_id: null, scopes: "[]", claims: "{}", resource: null, auth_time: 1, created_at: at, revoked_at: null, revoked_reason: null })}`
  yield* sql`INSERT INTO oauth_access_tokens ${sql.insert({ id: "oat_a", secret_hash: "h2", subject: bob.subject, client_id: "app", grant_id: "grt_a", scopes: "[]", workspace_id: null, created_at: at, expires_at: later, revoked_at: null })}`
  yield* sql`INSERT INTO oidc_refresh_tokens ${sql.insert({ secret_hash: "h3", grant_id: "grt_a", created_at: at, expires_at: later, used_at: null, successor_hash: null })}`
  yield* sql`INSERT INTO oidc_codes ${sql.insert({ secret_hash: "h4", grant_id: "grt_a", redirect_uri: "r", code_challenge: null, nonce: null, created_at: at, expires_at: later, used_at: null })}`
  yield* sql`INSERT INTO oidc_device_codes ${sql.insert({ secret_hash: "h5", user_code_digest: "d", client_id: "app", scopes: "[]", workspace_id: null, resource: null, status: "pending", grant_id: null, interval_seconds: 5, last_polled_at: null, created_at: at, expires_at: later })}`
  yield* sql`INSERT INTO oidc_consents ${sql.insert({ subject: bob.subject, client_id: "app", workspace_id: "", scopes: "[]", updated_at: at })}`
  return { ada, bob, workspaceId, connectionId: connection.id, token, session }
})

/** Beside a server in this process, a command prints to the console that both share. */
const lastLine = (text: string) => text.split("\n").at(-1) ?? ""

/** A restored installation, with its server not yet started. */
const restoredWith = Effect.fnUntraced(function* <A, E, R>(more: (url: string) => Effect.Effect<A, E, R>) {
  const files = yield* FileSystem.FileSystem
  const root = yield* folder
  const file = `${root}/backup.sqlite`
  const world = yield* Effect.scoped(
    Effect.gen(function* () {
      const { services, url } = yield* serve(`${root}/first`)
      const made = yield* Effect.provide(furnished, services)
      const added = yield* Effect.provide(more(url), services)
      expect((yield* svc(["backup", file, "--data-dir", `${root}/first`])).code).toBe(0)
      return { ...made, added }
    })
  )
  const dataDir = `${root}/second`
  yield* files.makeDirectory(dataDir)
  yield* files.copyFile(`${root}/first/master.key`, `${dataDir}/master.key`)
  yield* files.chmod(`${dataDir}/master.key`, 0o600)
  const told = yield* svc(["restore", file, "--data-dir", dataDir, "--json"])
  expect([told.code, told.error]).toEqual([0, ""])
  const review = (args: ReadonlyArray<string> = []) =>
    Effect.map(svc(["admin", "restore-review", ...args, "--data-dir", dataDir, "--json"]), (ended) => ({
      code: ended.code,
      error: ended.error,
      json: ended.code === 0 ? JSON.parse(lastLine(ended.out)) : undefined
    }))
  return { ...world, dataDir, told: JSON.parse(told.out), review }
})

const restored = restoredWith(() => Effect.void)

/** A pool, what it provides to the Workspace, an agent of it, and a token for more of them. */
const agentsAt = Effect.fnUntraced(function* (url: string) {
  const pools = yield* Pools
  yield* pools.create("far", {})
  yield* pools.assign("far", "acme")
  yield* pools.provide("far", "cloud", "acme")
  const { secret } = yield* pools.token("far", { uses: 3, lifetime: Duration.hours(1) })
  const keys = yield* newKeys
  const client = yield* agentClient(url)
  const { agentId, installationId } = yield* client.Enrol({
    token: secret,
    name: "one",
    keys: keys.public,
    facts: machineFacts
  })
  return { agentId, installationId, keys, secret }
})

const asked = (url: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}${path}`, { headers })
    return { status: response.status, json: await response.json() }
  })

const signedIn = (subject: string) =>
  Effect.map(
    Effect.flatMap(Sessions, (sessions) => sessions.open({ subject, method: "password" })),
    ({ secret }) => ({ "x-svc-account-session": Redacted.value(secret) })
  )

interface Item {
  readonly id: string
  readonly workspace: string | null
  readonly kind: string
  readonly description: string
}

describe("an installation restored from a backup", () => {
  live("ends everything that gave access", () =>
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
      // A new password can be set meanwhile.
      const link = yield* svc(["admin", "reset-password", "--email", ada.email, "--data-dir", dataDir, "--json"])
      expect([link.code, JSON.parse(link.out).setupLink]).toEqual([0, expect.stringContaining("/setup#")])
    })
  )

  live("restores no access that may have been ended since, until an operator confirms it", () =>
    Effect.gen(function* () {
      const { ada, bob, connectionId, dataDir, review, told, workspaceId } = yield* restored
      const { services, url } = yield* serve(dataDir)
      const path = `/api/v1/workspaces/${workspaceId}`
      yield* Effect.gen(function* () {
        const connections = yield* Connections
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

        // The list printed by the restore.
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
        expect([unknown.code, unknown.error]).toEqual([1, expect.stringContaining("mbr_unknown")])
        expect((yield* review()).json.review).toEqual(listed)

        const mine = listed.filter(({ description }) => description.startsWith("ada@")).map(({ id }) => id)
        expect((yield* review(["confirm", ...mine])).code).toBe(0)
        expect((yield* asked(url, path, byAda)).status).toBe(200)
        expect((yield* asked(url, path, byBob)).json.error.code).toBe("restore_unconfirmed")

        // Another owner may end unconfirmed records, but not restore them.
        const members = yield* Members
        const scope = { workspaceId, acting: { subject: ada.subject } }
        const raised = yield* Effect.flip(members.update(as(ada.subject), scope, bob.subject, { status: "active" }))
        expect([raised.code, raised.message]).toEqual([
          "failed_precondition",
          expect.stringContaining("svc admin restore-review")
        ])
        const tested = yield* Effect.flip(connections.test(as(ada.subject), connectionId))
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
        expect((yield* connections.test(as(ada.subject), connectionId)).connection.status).toBe("verified")
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

  live("names the Workspaces whose approval rules and teams came back, until their memberships are decided", () =>
    Effect.gen(function* () {
      const { dataDir, review, workspaceId } = yield* restored
      const { services } = yield* serve(dataDir)
      // Written after the restore, so not a restored one.
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

  live("admits no agent, and lets no Workspace use a pool or its credentials, until an operator confirms it", () =>
    Effect.gen(function* () {
      const { added, dataDir, review, told, workspaceId } = yield* restoredWith(agentsAt)
      expect(told.ended).toMatchObject({ enrolmentTokens: 1 })
      const { agentId, installationId, keys, secret } = added
      const { services, url } = yield* serve(dataDir)
      const client = yield* agentClient(url)
      const hello = Effect.gen(function* () {
        const { nonce } = yield* client.Challenge({ agentId })
        const { incarnation } = machineFacts
        const said = helloText({ agentId, incarnation, nonce, installationId, nextKeys: undefined })
        const signature = yield* signedBy(keys, said)
        return yield* client.Hello({ agentId, nonce, signature, facts: machineFacts, held: [] })
      })
      const another = yield* newKeys
      const enrolment = { token: secret, name: "two", keys: another.public, facts: machineFacts }
      expect(yield* Effect.flip(client.Enrol(enrolment))).toMatchObject({ _tag: "Unauthorised" })
      // It is asked to wait, since the keys are its own.
      expect(yield* Effect.flip(hello)).toMatchObject({
        retry: true,
        message: expect.stringContaining("restore-review")
      })
      yield* Effect.gen(function* () {
        const pools = yield* Pools
        const shown = Effect.map(pools.list, ([far]) => ({ workspaces: far?.workspaces, provisions: far?.provisions }))
        expect(yield* shown).toEqual({ workspaces: [], provisions: [] })
        const assignment = `far/${workspaceId}`
        const provision = `far/cloud/${workspaceId}`
        const listed: ReadonlyArray<Item> = (yield* review()).json.review
        const waiting = listed.filter(({ kind }) => kind.startsWith("agent"))
        expect(waiting).toMatchObject([
          { kind: "agent", id: agentId, description: "one of the pool far" },
          { kind: "agent_pool_assignment", id: assignment, workspace: "acme" },
          {
            kind: "agent_pool_provision",
            id: provision,
            workspace: "acme",
            description: expect.stringContaining("cloud")
          }
        ])
        const others = listed.filter(({ kind }) => !kind.startsWith("agent")).map(({ id }) => id)
        expect((yield* review(["confirm", ...others])).code).toBe(0)
        expect((yield* asked(url, "/readyz")).json).toMatchObject({ notice: "restore_review" })

        expect((yield* review(["confirm", assignment])).code).toBe(0)
        expect(yield* shown).toEqual({ workspaces: ["acme"], provisions: [] })
        expect((yield* review(["confirm", agentId])).code).toBe(0)
        expect((yield* hello).renewSeconds).toBeGreaterThan(0)
        expect((yield* review(["confirm", provision])).code).toBe(0)
        expect(yield* shown).toEqual({ workspaces: ["acme"], provisions: [{ name: "cloud", workspace: "acme" }] })
        expect((yield* asked(url, "/readyz")).json).toEqual({ status: "ok" })
        expect((yield* review()).json.review).toEqual([])
      }).pipe(Effect.provide(services))
    })
  )

  live("permanently leaves out what an operator removes: an agent, the use of a pool, its credentials", () =>
    Effect.gen(function* () {
      const { added, dataDir, review, workspaceId } = yield* restoredWith(agentsAt)
      const { services } = yield* serve(dataDir)
      const removed = [added.agentId, `far/${workspaceId}`, `far/cloud/${workspaceId}`]
      expect((yield* review(["remove", ...removed])).code).toBe(0)
      const [far] = yield* Effect.provide(
        Effect.flatMap(Pools, ({ list }) => list),
        services
      )
      expect(far).toMatchObject({ workspaces: [], provisions: [], agents: 0 })
      expect((yield* review()).json.review.map(({ kind }: Item) => kind)).not.toContain("agent")
    })
  )

  live("can also be reviewed on the folder, while no server runs", () =>
    Effect.gen(function* () {
      const { dataDir, review, told } = yield* restored
      expect((yield* review()).json.review).toEqual(told.review)
      const text = yield* svc(["admin", "restore-review", "--data-dir", dataDir])
      expect(text.out).toContain("have no effect until you confirm them")
      expect(text.out).toMatch(/\n {2}acme {2}2 approval rules, 1 team$/)
      expect((yield* review(["remove", "--all"])).json.records).toHaveLength(5)
      const neither = yield* review(["confirm"])
      expect([neither.code, neither.error]).toEqual([1, expect.stringContaining("--all")])
      expect((yield* review()).json.review).toEqual([])
    })
  )
})
