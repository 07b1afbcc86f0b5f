import { expect } from "bun:test"
import { Effect, FileSystem, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { Workspaces } from "../../../../actors/ledger/workspace/Workspaces.ts"
import { WorkspaceId } from "../../../../schema/records/Ids.ts"
import { as, joinWorkspace } from "../../../support/Accounts.ts"
import { folder, svc } from "../../cli/support/CommandLine.ts"
import { serve } from "./Server.ts"

const at = "2026-01-01T00:00:00.000Z"
export const later = "2126-01-01T00:00:00.000Z"

export const ruleIn = (workspaceId: string, id: string, writtenAt: string) => ({
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

/** Creates an installation with two people in one Workspace, a Connection, a share, and every kind of credential. */
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

/** A server running in this process shares its console with the command, so the output contains both. */
const lastLine = (text: string) => text.split("\n").at(-1) ?? ""

/** Restores the installation, and does not start its server yet. */
export const restoredWith = Effect.fnUntraced(function* <A, E, R>(more: (url: string) => Effect.Effect<A, E, R>) {
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

export const restored = restoredWith(() => Effect.void)

export const asked = (url: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}${path}`, { headers })
    return { status: response.status, json: await response.json() }
  })

export const signedIn = (subject: string) =>
  Effect.map(
    Effect.flatMap(Sessions, (sessions) => sessions.open({ subject, method: "password" })),
    ({ secret }) => ({ "x-svc-account-session": Redacted.value(secret) })
  )

export interface Item {
  readonly id: string
  readonly workspace: string | null
  readonly kind: string
  readonly description: string
}
