import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { UpdateConnection } from "../../../schema/api/ConnectionsApi.ts"
import { ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { type ConnectionId, InstallPlanId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { RunCancels } from "../../ledger/run/RunCancels.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { orOnIntegrityFault } from "../../base/vault/IntegrityFault.ts"
import {
  changedSecrets,
  changeProblem,
  poolProblem,
  removalProblem,
  runsToStop,
  tokenProblem
} from "./ConnectionChangeProblem.ts"
import { checkCredentials, checkExpiry, checkUse } from "./ConnectionRules.ts"
import { ConnectionStore } from "./ConnectionStore.ts"
import { oauthOf } from "./ConnectionTokens.ts"
import { CredentialTest } from "./CredentialTest.ts"
import { CredentialsInUse } from "./CredentialsInUse.ts"
import { connectionRevoked, connectionRotated } from "./RotatedConnections.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { coordinatorUnderWay } from "../../../schema/tables/PlanTables.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { SourceRow } from "../../ledger/source/SourceRow.ts"
import { rowShape } from "../../base/database/Table.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"

// Declares only the id, because the InstallPlan model is in a higher layer.
const OpenInstall = rowShape({ id: InstallPlanId })

/** Maximum number of users to list in the message. If there are more, the message contains only their number. */
const mostNamed = 10

/**
 * Finds the users of a Connection: existing Capsules that bind it, Sources that are fetched with it or use it for their pull
 * requests, installs that will use it, and active Runs. Ignores ended Capsules and earlier configurations.
 */
const usersOf = Effect.fn("Connection.usersOf")(function* (id: ConnectionId) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleRow.some(sql, "id", "name", "environment")`SELECT DISTINCT c.id, c.name, c.environment
    FROM provider_bindings b JOIN capsules c ON c.install_config_id = b.install_config_id
    WHERE b.connection_id = ${id} AND ${sql.literal(livingCapsule("c."))} ORDER BY c.name, c.id`
  const sources = yield* SourceRow.some(
    sql,
    "name"
  )`SELECT name FROM sources WHERE auth_connection_id = ${id} ORDER BY name, id`
  const forges = yield* SourceRow.some(
    sql,
    "name"
  )`SELECT name FROM sources WHERE forge_connection_id = ${id} ORDER BY name, id`
  const installs = yield* OpenInstall.rows(sql)`SELECT id FROM install_plans
    WHERE ${sql.literal(coordinatorUnderWay)} AND (json_extract(request, '$.source.authConnectionId') = ${id}
      OR EXISTS (SELECT 1 FROM json_each(request, '$.options.providerBindings') b
        WHERE json_extract(b.value, '$.connectionId') = ${id})) ORDER BY id`
  const runs = yield* RunRow.some(sql, "id")`SELECT id FROM runs WHERE status IN ('queued', 'running')
    AND (json_extract(spec, '$.authConnectionId') = ${id}
      OR id IN (SELECT run_id FROM connection_holds WHERE connection_id = ${id})) ORDER BY id`
  const named = [
    ...capsules.map(({ environment, name }) => `the Capsule ${name} (${environment})`),
    ...sources.map(({ name }) => `the Source ${name}`),
    ...forges.map(({ name }) => `the pull requests of the Source ${name}`),
    ...installs.map((install) => `the install plan ${install.id}`),
    ...runs.map((run) => `the Run ${run.id}`)
  ]
  // Names are not unique, so list each name once, with the number of users that have it.
  const names = [...Map.groupBy(named, (name) => name)].map(([name, all]) =>
    all.length === 1 ? name : `${name} (${all.length} times)`
  )
  const more = names.length - mostNamed
  return more > 0 ? [...names.slice(0, mostNamed), `${more} more`] : names
}, Effect.orDie)

export const changedMeanwhile = () =>
  new ApiError({
    code: "guard_conflict",
    message: "Somebody has changed this Connection since; nothing was written. Read it again and repeat."
  })

const load = Effect.fnUntraced(function* (id: ConnectionId) {
  const connections = yield* ConnectionStore
  const row = yield* connections.find(id)
  return row === undefined ? yield* notFound("Connection") : row
})

const audited = Effect.fnUntraced(function* (
  context: CommandContext,
  row: ConnectionRow,
  action: string,
  data: Readonly<Record<string, string | number | ReadonlyArray<string>>>
) {
  const audit = yield* Audit
  yield* audit.append({
    workspaceId: row.workspace_id,
    actor: context.actor,
    action,
    target: { kind: "connection", id: row.id },
    data: { provider: row.provider, displayName: row.display_name, ...data },
    requestId: context.requestId
  })
})

/**
 * Tests the new values, and returns them with the previous values. Returns `undefined`, without decrypting anything, if the
 * request keeps the values.
 */
const rotationOf = Effect.fnUntraced(function* (row: ConnectionRow, request: UpdateConnection) {
  if (request.values === undefined && request.files === undefined) return undefined
  const connections = yield* ConnectionStore
  const credentialTest = yield* CredentialTest
  // If the previous values can no longer be decrypted, all of them must be replaced.
  const opening = connections.secrets(row)
  const before =
    request.values === undefined ? yield* opening : yield* orOnIntegrityFault(() => Effect.undefined)(opening)
  const secrets = changedSecrets(request, before === undefined ? undefined : Redacted.value(before))
  yield* checkCredentials({
    provider: row.provider,
    kind: row.kind,
    recipeId: row.recipe_id,
    ...(row.auth_mode === "env" ? {} : { authMode: row.auth_mode }),
    ...secrets
  })
  const tested = yield* credentialTest
    .test(row, Redacted.make(secrets))
    .pipe(
      Effect.mapError(({ message }) =>
        failedPrecondition(`The new values were not taken over, the old ones still stand. ${message}`)
      )
    )
  return { before, secrets, tested }
})

/**
 * Changes a Connection in place. Tests new values before writing anything, and voids unapplied plans that used the old values.
 * Returns the changed row.
 */
export const updateConnection = Effect.fnUntraced(function* (
  id: ConnectionId,
  context: CommandContext,
  request: UpdateConnection
) {
  const sql = yield* SqlClient.SqlClient
  const connections = yield* ConnectionStore
  const held = yield* CredentialsInUse
  const ledger = yield* RunLedger
  const capsules = yield* CapsuleLedger
  const row = yield* load(id)
  const ended = changeProblem(row)
  if (ended !== undefined) return yield* ended
  yield* checkExpiry(request.expiresAt)
  const ofHelper = tokenProblem(oauthOf(row), request)
  if (ofHelper !== undefined) return yield* ofHelper
  const ofPool = poolProblem(row, request)
  if (ofPool !== undefined) return yield* ofPool
  yield* checkUse(row.workspace_id, row.kind, request.use)
  const rotation = yield* rotationOf(row, request)
  return yield* Effect.gen(function* () {
    // Checks again, because Projects in the use rule may have been removed while the values were tested.
    yield* checkUse(row.workspace_id, row.kind, request.use)
    const { displayName, expiresAt, use } = request
    const changed = yield* connections.change(row, {
      displayName,
      expiresAt,
      use,
      ...(rotation === undefined ? {} : { secrets: rotation.secrets })
    })
    if (changed === undefined) return yield* changedMeanwhile()
    yield* capsules.credentialRenewed(id)
    const fields = Object.keys(request)
    if (rotation === undefined) {
      if (fields.length > 0) yield* audited(context, row, "connection.update", { fields })
      return { row: changed, supersededRunIds: [] }
    }
    const { before, secrets, tested } = rotation
    if (before !== undefined) yield* held.keep(row, before)
    const supersededRunIds = yield* ledger.supersedeUsers(id, connectionRotated)
    yield* audited(context, row, "connection.rotate", {
      fields,
      version: row.version + 1,
      tested,
      envNames: Object.keys(secrets.values),
      fileNames: secrets.files.map(({ name }) => name),
      supersededRunIds
    })
    return { row: changed, tested, supersededRunIds }
  }).pipe(transaction(sql))
})

/** Removes an unused Connection and its values. Its name remains in the history. */
export const removeConnection = Effect.fnUntraced(function* (id: ConnectionId, context: CommandContext) {
  const sql = yield* SqlClient.SqlClient
  const connections = yield* ConnectionStore
  return yield* Effect.gen(function* () {
    const row = yield* load(id)
    const problem = removalProblem(yield* usersOf(id))
    if (problem !== undefined) return yield* problem
    if (!(yield* connections.remove(row))) return yield* changedMeanwhile()
    yield* audited(context, row, "connection.remove", {})
  }).pipe(transaction(sql))
})

/**
 * Stops Runs because of a revocation. Returns the stopped Runs, and the applies that continue because stopping them halfway
 * would do more harm.
 */
const stopRuns = Effect.fn("Connection.stopRuns")(function* (id: ConnectionId, context: CommandContext) {
  const sql = yield* SqlClient.SqlClient
  const lifecycle = yield* RunLifecycle
  const cancels = yield* RunCancels
  const reason = "A Connection that this Run uses was revoked."
  const running = yield* RunRow.some(sql, "id", "type", "cancel_requested_at")`
    SELECT id, type, cancel_requested_at FROM runs WHERE status = 'running'
      AND (json_extract(spec, '$.authConnectionId') = ${id}
        OR id IN (SELECT run_id FROM connection_holds WHERE connection_id = ${id})) ORDER BY id`
  const { toCancel, ...stopped } = runsToStop(running)
  for (const run of toCancel) {
    yield* lifecycle.requestCancel(run.id, { subject: context.actor.subject, reason })
    yield* sql.afterCommit(cancels.cancel(run.id))
  }
  return stopped
}, Effect.orDie)

/**
 * Revokes a Connection immediately: no Run receives its values any more, plans that used it become void, and Runs that change
 * nothing are stopped. A running apply continues; until it finishes, the values are kept sealed so that they can be redacted from
 * its output.
 */
export const revokeConnection = Effect.fnUntraced(function* (id: ConnectionId, context: CommandContext) {
  const sql = yield* SqlClient.SqlClient
  const connections = yield* ConnectionStore
  const held = yield* CredentialsInUse
  const ledger = yield* RunLedger
  return yield* Effect.gen(function* () {
    const row = yield* load(id)
    if (row.status === "revoked") return { supersededRunIds: [], cancelledRunIds: [], runningApplyIds: [] }
    // No values need to be kept for redaction, because no Run receives a value of a restored Connection before its
    // confirmation.
    if (row.status !== "unconfirmed") {
      yield* held.keep(row, yield* connections.secrets(row))
      yield* held.keepTokens(row)
    }
    yield* connections.revoke(id)
    const supersededRunIds = yield* ledger.supersedeUsers(id, connectionRevoked)
    const stopped = yield* stopRuns(id, context)
    yield* audited(context, row, "connection.revoke", { supersededRunIds, ...stopped })
    return { supersededRunIds, ...stopped }
  }).pipe(transaction(sql))
})
