import { DatabaseSync } from "node:sqlite"
import { Effect, Redacted } from "effect"
import { Cookies, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { demoAccount } from "../../../src/cli/demo/DemoSession.ts"
import { apply, install } from "./Journey.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { RelativePath } from "../../../schema/records/Primitives.ts"
import { module, repositoryOf } from "./Modules.ts"
import { startProduct } from "./Product.ts"

/** Number of rows in every list. */
export const listed = 49
const modules = 133

type Value = string | number | null | Uint8Array
type Row = Readonly<Record<string, Value>>

/** Encodes the number in base 26, because ids contain only letters. */
const idOf = (prefix: string, index: number) => {
  const digits = [2, 1, 0].map((place) => String.fromCharCode(97 + (Math.floor(index / 26 ** place) % 26)))
  return `${prefix}_${digits.join("").padStart(24, "a")}`
}

const timeOf = (index: number) => new Date(Date.parse("2026-01-01T00:00:00.000Z") + index * 1000).toISOString()

/** Writes rows into a server's database as another process would. */
const writer = (database: DatabaseSync) => {
  const insert = (table: string, row: Row) => {
    const names = Object.keys(row)
    const places = names.map(() => "?").join(", ")
    database
      .prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${places})`)
      .run(...names.map((name) => row[name] ?? null))
  }
  const first = (table: string, where = "1 = 1"): Row => {
    const found: Row | undefined = database.prepare(`SELECT * FROM ${table} WHERE ${where} LIMIT 1`).get() as Row
    return found
  }
  const fill = (table: string, row: Row, from: number, changes: (index: number) => Row) => {
    for (let index = from; index < listed; index++) insert(table, { ...row, ...changes(index) })
  }
  return { insert, first, fill }
}

const repository = Object.fromEntries([
  ["main.tf", module],
  ...Array.from({ length: modules - 1 }, (_, index) => [
    `modules/part-${index}/main.tf`,
    `variable "name" {\n  type    = string\n  default = "part"\n}\n\nresource "terraform_data" "one" {\n  input = var.name\n}\n\noutput "name" {\n  value = terraform_data.one.output\n}\n`
  ])
])

const signIn = (url: string) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const response = yield* HttpClientRequest.post(`${url}/auth/sign-in`).pipe(
      HttpClientRequest.setHeader("origin", url),
      HttpClientRequest.bodyJsonUnsafe(demoAccount),
      client.execute,
      Effect.flatMap(HttpClientResponse.filterStatusOk)
    )
    return Cookies.toCookieHeader(response.cookies)
  })

/**
 * Starts a server with one record of every kind and 49 rows in every list: an installed and applied module from a repository
 * with 133 modules, and copies of its rows.
 */
export const readWorld = Effect.fn("readWorld")(function* (program: ReadonlyArray<string>) {
  const { origin, url } = yield* repositoryOf(repository)
  const product = yield* startProduct(["--git-allow-origins", origin], program)
  const cookie = yield* signIn(product.url)
  const { capsuleId, planRunId } = yield* install(product, url, "one", { modulePath: RelativePath.make(".") })
  yield* apply(product, planRunId)
  const { connection } = yield* product.client.connections.create({
    payload: {
      workspaceId: WorkspaceId.make(product.workspaceId),
      provider: "registry.opentofu.org/hashicorp/null",
      recipeId: "generic-env",
      authMode: "env",
      displayName: "one",
      values: { ONE: "a value that nobody reads" }
    }
  })
  const { member: automation } = yield* product.client.workspaces.addMember({
    params: { workspaceId: WorkspaceId.make(product.workspaceId) },
    payload: { automation: "one", role: "member" }
  })
  const database = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(`${product.dataDir}/svc.sqlite`, { timeout: 5000 })),
    (open) => Effect.sync(() => open.close())
  )
  const { fill, first, insert } = writer(database)
  const workspaceId = product.workspaceId
  const capsule = first("capsules")
  const run = first("runs", `id = '${planRunId}'`)
  const state = first("state_versions")
  const config = first("install_configs")
  const user = first("users")
  const snapshot = first("source_snapshots")
  const ids = {
    workspaceId,
    capsuleId,
    runId: planRunId,
    projectId: String(capsule["project_id"]),
    sourceId: String(capsule["source_id"]),
    sourceSnapshotId: String(snapshot["id"]),
    reportId: String(first("compatibility_reports")["id"]),
    capsuleConfigId: String(capsule["install_config_id"]),
    installPlanId: String(first("install_plans")["id"]),
    revisionPlanId: idOf("rpl", 0),
    runGroupId: idOf("rgrp", 0),
    stateVersionId: String(state["id"]),
    connectionId: connection.id,
    leftOverStateId: idOf("lo", 0),
    // The only member whose tokens other people may list.
    subject: automation.subject
  }
  const times = { created_at: timeOf(0), updated_at: timeOf(0) }
  database.exec("BEGIN IMMEDIATE")
  fill("workspaces", first("workspaces"), 1, (index) => ({
    id: idOf("ws", index),
    handle: `copy-${index}`,
    type: "organization",
    personal_owner: null,
    created_at: timeOf(index)
  }))
  fill("memberships", first("memberships"), 1, (index) => ({ id: idOf("mbr", index), workspace_id: idOf("ws", index) }))
  fill("users", user, 1, (index) => ({ subject: idOf("usr", index), email: `copy-${index}@example.com` }))
  fill("memberships", first("memberships"), 1, (index) => ({
    id: idOf("mbr", 100 + index),
    subject: idOf("usr", index),
    role: "viewer",
    created_at: timeOf(index)
  }))
  fill("projects", first("projects"), 1, (index) => ({
    id: idOf("prj", index),
    name: `Copy ${index}`,
    slug: `copy-${index}`,
    is_default: 0,
    created_at: timeOf(index)
  }))
  fill("sources", first("sources"), 1, (index) => ({
    id: idOf("src", index),
    name: `copy ${index}`,
    created_at: timeOf(index)
  }))
  fill("source_snapshots", snapshot, 1, (index) => ({ id: idOf("snap", index), created_at: timeOf(index) }))
  fill("install_configs", config, 1, (index) => ({ id: idOf("icfg", index), created_at: timeOf(index) }))
  fill("capsules", capsule, 1, (index) => ({
    id: idOf("cap", index),
    name: `copy-${index}`,
    slug: `copy-${index}`,
    current_state_version_id: idOf("sv", index),
    created_at: timeOf(index)
  }))
  fill("state_versions", state, 1, (index) => ({ id: idOf("sv", index), capsule_id: idOf("cap", index) }))
  fill("state_versions", state, 1, (index) => ({ id: idOf("sv", 100 + index), generation: 100 + index }))
  fill("runs", run, 1, (index) => ({
    id: idOf("run", index),
    capsule_id: idOf("cap", index),
    created_at: timeOf(index)
  }))
  fill("access_tokens", first("access_tokens"), 1, (index) => ({
    token_id: idOf("pat", index),
    secret_hash: `copy ${index}`,
    created_at: timeOf(index)
  }))
  fill("connections", first("connections"), 1, (index) => ({ id: idOf("conn", index), display_name: `copy ${index}` }))
  fill(
    "dependencies",
    { workspace_id: workspaceId, consumer_capsule_id: capsuleId, mode: "published_output", outputs: "[]" },
    0,
    (index) => ({ id: idOf("dep", index), producer_capsule_id: idOf("cap", index || 1), created_at: timeOf(index) })
  )
  fill(
    "output_shares",
    {
      from_workspace_id: workspaceId,
      to_workspace_id: idOf("ws", 1),
      producer_capsule_id: capsuleId,
      outputs: JSON.stringify([{ name: "first" }]),
      status: "pending"
    },
    0,
    (index) => ({ id: idOf("oshare", index), created_at: timeOf(index) })
  )
  fill(
    "backups",
    {
      workspace_id: workspaceId,
      capsule_id: capsuleId,
      digest: `sha256:${"0".repeat(64)}`,
      size_bytes: 1,
      archive: "{}",
      created_by_run_id: planRunId
    },
    0,
    (index) => ({ id: idOf("bkp", index), created_at: timeOf(index) })
  )
  fill(
    "auto_update_decisions",
    {
      capsule_id: capsuleId,
      resolved_commit: "0".repeat(40),
      decision: "skipped",
      reason: "not_adopted",
      message: "Nothing was applied.",
      execution_authority_epoch: 1,
      state_generation: 1,
      ...times
    },
    0,
    (index) => ({
      id: idOf("aud", index),
      source_snapshot_id: index === 0 ? ids.sourceSnapshotId : idOf("snap", index)
    })
  )
  fill(
    "left_over_states",
    {
      workspace_id: workspaceId,
      capsule_id: capsuleId,
      run_id: planRunId,
      reason: "unknown",
      digest: `sha256:${"0".repeat(64)}`,
      size_bytes: 1,
      state_generation: 1,
      execution_authority_epoch: 1
    },
    0,
    (index) => ({ id: idOf("lo", index), created_at: timeOf(index) })
  )
  fill(
    "access_tokens",
    { ...first("access_tokens"), subject: automation.subject, workspace_id: workspaceId },
    0,
    (index) => ({ token_id: idOf("pat", 100 + index), secret_hash: `automation ${index}`, created_at: timeOf(index) })
  )
  fill("teams", { workspace_id: workspaceId, ...times }, 0, (index) => ({
    id: idOf("team", index),
    name: `copy-${index}`,
    created_at: timeOf(index)
  }))
  fill(
    "approval_rules",
    {
      workspace_id: workspaceId,
      approvers: 1,
      role: "admin",
      plan_author_counts: 1,
      commit_author_counts: 1,
      automation_counts: 0,
      ...times
    },
    0,
    (index) => ({ id: idOf("apr", index), environment: `copy-${index}`, created_at: timeOf(index) })
  )
  fill(
    "invitations",
    {
      workspace_id: workspaceId,
      role: "member",
      invited_by: String(user["subject"]),
      status: "pending",
      expires_at: "2099-01-01T00:00:00.000Z"
    },
    0,
    (index) => ({
      id: idOf("inv", index),
      secret_hash: `copy ${index}`,
      stand_in: idOf("usr", 200 + index),
      created_at: timeOf(index)
    })
  )
  insert("run_groups", {
    id: ids.runGroupId,
    workspace_id: workspaceId,
    type: "drift_check",
    created_at: timeOf(0),
    finished_at: timeOf(1)
  })
  insert("runs", {
    ...run,
    id: idOf("run", 200),
    type: "drift_check",
    status: "succeeded",
    run_group_id: ids.runGroupId
  })
  insert("revision_plans", {
    id: ids.revisionPlanId,
    workspace_id: workspaceId,
    capsule_id: capsuleId,
    ref: "main",
    phase: "reviewable",
    actor: "{}",
    execution_authority_epoch: 1,
    diagnostics: "[]",
    ...times
  })
  database.exec("COMMIT")
  return {
    product,
    ids,
    subject: String(user["subject"]),
    address: String(first("resource_versions", `capsule_id = '${capsuleId}'`)["address"]),
    bearer: `authorization: Bearer ${Redacted.value(product.token)}\r\n`,
    session: `cookie: ${cookie}\r\n`,
    capsuleIds: Array.from({ length: listed }, (_, index) => (index === 0 ? capsuleId : idOf("cap", index)))
  }
})
