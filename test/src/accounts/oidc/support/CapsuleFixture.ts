import { createHash } from "node:crypto"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { newWorkspace } from "../../../../support/Accounts.ts"
import { CapsuleId } from "../../../../../schema/records/Ids.ts"

const at = "2026-01-01T00:00:00.000Z"
const id = (prefix: string, name: string) => `${prefix}_${createHash("sha256").update(name).digest("hex").slice(0, 24)}`

export const capsuleOrigin = "https://app.example.com"
export const capsuleCallback = `${capsuleOrigin}/oidc/callback`

/** Returns a configuration that may request an identity. */
const configOf = (identity: boolean, name: string) =>
  JSON.stringify({
    compiled: {
      origin: identity ? "repository_manifest" : "generic",
      assistance: identity ? "adopted" : "absent",
      pins: { sourceSnapshotId: id("snap", name), compatibilityReportId: id("rep", name), modulePath: "." },
      inputs: [],
      requires: identity
        ? [
            { kind: "http.endpoint", deliveries: [{ slot: "url", lane: "variable", name: "url" }] },
            {
              kind: "identity.oidc",
              callbackPath: "/oidc/callback",
              scopes: ["openid", "profile", "offline_access"],
              endpointVariable: "url",
              deliveries: ["accountsUrl", "issuerUrl", "clientId", "redirectUri"].map((slot) => ({
                slot,
                lane: "variable",
                name: slot
              }))
            }
          ]
        : [],
      features: [],
      interfaceBlueprints: [],
      bindingRequests: [],
      outputAllowlist: [],
      diagnostics: []
    },
    variables: [],
    outputs: [],
    rootProviderRequirements: []
  })

/** Creates a Capsule in a new Workspace of that person, with a configuration that requests an identity. */
export const capsuleOf = Effect.fnUntraced(function* (owner: string, name: string, identity = true) {
  const sql = yield* SqlClient.SqlClient
  const workspace = yield* newWorkspace(owner, { handle: name.slice(0, 38) })
  const workspace_id = workspace.id
  const capsuleId = CapsuleId.make(id("cap", name))
  const times = { created_at: at, updated_at: at }
  yield* sql`INSERT INTO sources ${sql.insert({ id: id("src", name), workspace_id, name: "app", url: "https://git.example.test/app.git", default_ref: "HEAD", default_path: ".", auto_sync: 0, status: "active", hook_secret: "sealed", ...times })}`
  const [project] = yield* sql<{ id: string }>`SELECT id FROM projects WHERE workspace_id = ${workspace_id}`
  const configId = id("icfg", name)
  yield* sql`INSERT INTO install_configs ${sql.insert({ id: configId, workspace_id, capsule_id: capsuleId, origin: "generic", module_path: ".", contract_digest: "d", digest: "sha256:first", config: configOf(identity, name), created_at: at })}`
  yield* sql`INSERT INTO capsules ${sql.insert({ id: capsuleId, workspace_id, project_id: project?.id ?? "", name, slug: name, environment: "production", source_id: id("src", name), module_path: ".", install_config_id: configId, status: "active", runtime_safety: "safe", current_state_generation: 0, execution_authority_epoch: 1, tracked_ref: "HEAD", tracked_path: ".", auto_update_enabled: 0, auto_update_apply: 0, drift_status: "unknown", ...times })}`
  return { capsuleId, workspaceId: workspace_id, configId }
})

/** Starts a new authority epoch, like a re-adoption. */
export const nextEpoch = Effect.fnUntraced(function* (capsuleId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE capsules SET execution_authority_epoch = execution_authority_epoch + 1 WHERE id = ${capsuleId}`
})

export const setCapsuleStatus = Effect.fnUntraced(function* (capsuleId: string, status: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE capsules SET status = ${status} WHERE id = ${capsuleId}`
})

/** Makes a different configuration current without changing the epoch. */
export const otherConfig = Effect.fnUntraced(function* (capsuleId: string, name: string, identity = true) {
  const sql = yield* SqlClient.SqlClient
  const configId = id("icfg", name)
  yield* sql`INSERT INTO install_configs ${sql.insert({ id: configId, capsule_id: capsuleId, workspace_id: (yield* sql<{ workspace_id: string }>`SELECT workspace_id FROM capsules WHERE id = ${capsuleId}`)[0]?.workspace_id ?? "", origin: "generic", module_path: ".", contract_digest: "d", digest: `sha256:${name}`, config: configOf(identity, name), created_at: at })}`
  yield* sql`UPDATE capsules SET install_config_id = ${configId} WHERE id = ${capsuleId}`
})

/** Changes a membership directly in the database, as an administrator could through the API. */
export const setMembership = Effect.fnUntraced(function* (
  workspaceId: string,
  subject: string,
  change: { readonly status?: string; readonly role?: string }
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE memberships SET ${sql.update(change)} WHERE workspace_id = ${workspaceId} AND subject = ${subject}`
})

/** Runs the effect while a table is unreadable. */
export const withoutTable = <A, E, R>(table: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE ${sql(table)} RENAME TO ${sql(`${table}_away`)}`
    return yield* Effect.ensuring(
      effect,
      Effect.orDie(sql`ALTER TABLE ${sql(`${table}_away`)} RENAME TO ${sql(table)}`)
    )
  })
