import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { UpdateConnection } from "../../schema/api/ConnectionsApi.ts"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../schema/errors/ApiError.ts"
import type { CommandContext } from "../../schema/protocol/Command.ts"
import type { ConnectionId } from "../../schema/records/Ids.ts"
import { Audit } from "../audit/Audit.ts"
import { CapsuleLedger } from "../authority/CapsuleLedger.ts"
import { transaction } from "../database/Transaction.ts"
import { isApply } from "../run/RunAttempt.ts"
import { RunCancels } from "../run/RunCancels.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { RunLifecycle } from "../run/RunLifecycle.ts"
import { orOnIntegrityFault } from "../vault/IntegrityFault.ts"
import { checkCredentials, checkExpiry, checkUse } from "./ConnectionRules.ts"
import { type ConnectionSecrets, ConnectionStore, statusRemedy } from "./ConnectionStore.ts"
import { oauthOf } from "./ConnectionTokens.ts"
import { usersOf } from "./ConnectionUsage.ts"
import { CredentialTest } from "./CredentialTest.ts"
import { HeldValues } from "./HeldValues.ts"
import { connectionRevoked, connectionRotated } from "./RotatedConnections.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { RunRow } from "../run/RunRow.ts"

const changedMeanwhile = () =>
  new ApiError({
    code: "guard_conflict",
    message: "Somebody changed this Connection meanwhile; nothing was written. Read it again and repeat."
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

/** A helper's Connection keeps its tokens from the authorization server, and their expiry where they cannot be renewed. */
const checkTokens = Effect.fnUntraced(function* (row: ConnectionRow, { expiresAt, files, values }: UpdateConnection) {
  const oauth = oauthOf(row)
  if (oauth === undefined) return
  if (values !== undefined || files !== undefined) {
    return yield* failedPrecondition(
      `The Connection gets its values from the helper ${oauth.helperId}. Connect it again: POST /api/v1/connections/oauth/${oauth.helperId}/start with its connectionId.`
    )
  }
  const ends = oauth.refreshable ? undefined : oauth.accessTokenExpiresAt
  if (ends !== undefined && expiresAt !== undefined && (expiresAt ?? "9") > ends) {
    return yield* invalidRequest(
      `expiresAt: the access token ends at ${ends} and cannot be renewed. Connect it again for a later time.`
    )
  }
})

type Files = ConnectionSecrets["files"]

/** A file without a variable takes that of the file it replaces: only names are shown to people. */
const replacedFiles = (given: Files | undefined, present: Files): Files =>
  given?.map((file) => {
    const { envName } = file.envName === undefined ? (present.find(({ name }) => name === file.name) ?? file) : file
    return envName === undefined ? file : { ...file, envName }
  }) ?? present

/**
 * Changes a Connection in place. New values are tested before anything is written; unapplied plans made with the old ones
 * become void.
 */
export const updateConnection = Effect.fn("Connection.update")(function* (
  id: ConnectionId,
  context: CommandContext,
  request: UpdateConnection
) {
  const sql = yield* SqlClient.SqlClient
  const connections = yield* ConnectionStore
  const held = yield* HeldValues
  const ledger = yield* RunLedger
  const credentialTest = yield* CredentialTest
  const capsules = yield* CapsuleLedger
  const row = yield* load(id)
  if (row.status === "revoked" || row.status === "unconfirmed") {
    return yield* failedPrecondition(`The Connection is ${row.status}. ${statusRemedy(row.status)}`)
  }
  yield* checkExpiry(request.expiresAt)
  yield* checkTokens(row, request)
  yield* checkUse(row.workspace_id, row.kind, request.use)
  const rotates = request.values !== undefined || request.files !== undefined
  // Values that cannot be opened any more can still be replaced; nothing of them can be kept then.
  const opening = connections.secrets(row)
  const before =
    request.values === undefined ? yield* opening : yield* orOnIntegrityFault(() => Effect.undefined)(opening)
  const { files, values } = before === undefined ? { files: [], values: {} } : Redacted.value(before)
  const secrets = { values: request.values ?? values, files: replacedFiles(request.files, files) }
  if (rotates) {
    yield* checkCredentials({
      provider: row.provider,
      kind: row.kind,
      recipeId: row.recipe_id,
      ...(row.auth_mode === "env" ? {} : { authMode: row.auth_mode }),
      ...secrets
    })
  }
  const tested = rotates
    ? yield* credentialTest
        .test(row, Redacted.make(secrets))
        .pipe(
          Effect.mapError(({ message }) =>
            failedPrecondition(`The new values were not taken over, the old ones still stand. ${message}`)
          )
        )
    : undefined
  return yield* Effect.gen(function* () {
    const { displayName, expiresAt, use } = request
    const changed = yield* connections.change(row, {
      displayName,
      expiresAt,
      use,
      ...(rotates ? { secrets } : {})
    })
    if (!changed) return yield* changedMeanwhile()
    yield* capsules.credentialRenewed(id)
    const fields = Object.keys(request)
    if (tested === undefined) {
      if (fields.length > 0) yield* audited(context, row, "connection.update", { fields })
      return { supersededRunIds: [] }
    }
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
    return { tested, supersededRunIds }
  }).pipe(transaction(sql))
})

/** Ends an unused Connection. Its values are deleted; its name stays for the history. */
export const removeConnection = Effect.fn("Connection.remove")(function* (id: ConnectionId, context: CommandContext) {
  const sql = yield* SqlClient.SqlClient
  const connections = yield* ConnectionStore
  return yield* Effect.gen(function* () {
    const row = yield* load(id)
    const users = yield* usersOf(id)
    if (users.length > 0) {
      return yield* failedPrecondition(
        `The Connection is used by ${users.join(", ")}. Bind another one, or revoke it to end it at once.`
      )
    }
    if (!(yield* connections.remove(row))) return yield* changedMeanwhile()
    yield* audited(context, row, "connection.remove", {})
  }).pipe(transaction(sql))
})

/** What a revocation ended, and what continues because stopping it halfway would do more harm. */
const stopRuns = Effect.fn("Connection.stopRuns")(function* (id: ConnectionId) {
  const sql = yield* SqlClient.SqlClient
  const lifecycle = yield* RunLifecycle
  const cancels = yield* RunCancels
  const reason = "A Connection that this Run uses was revoked."
  const running = yield* RunRow.some(sql, "id", "type", "cancel_requested_at")`
    SELECT id, type, cancel_requested_at FROM runs WHERE status = 'running'
      AND (json_extract(spec, '$.authConnectionId') = ${id}
        OR id IN (SELECT run_id FROM connection_holds WHERE connection_id = ${id})) ORDER BY id`
  const stoppable = running.filter(({ type }) => !isApply(type))
  for (const run of stoppable) {
    if (run.cancel_requested_at !== null) continue
    yield* lifecycle.requestCancel(run.id, reason)
    yield* sql.afterCommit(cancels.cancel(run.id))
  }
  return {
    cancelledRunIds: stoppable.map((run) => run.id),
    runningApplyIds: running.filter(({ type }) => isApply(type)).map((run) => run.id)
  }
}, Effect.orDie)

/**
 * Ends a Connection at once: its values are not used again, plans made with it are void, and Runs that change nothing are
 * stopped. A running apply continues with what it has; its values stay sealed separately until it is over, only to be redacted
 * from its output.
 */
export const revokeConnection = Effect.fn("Connection.revoke")(function* (id: ConnectionId, context: CommandContext) {
  const sql = yield* SqlClient.SqlClient
  const connections = yield* ConnectionStore
  const held = yield* HeldValues
  const ledger = yield* RunLedger
  return yield* Effect.gen(function* () {
    const row = yield* load(id)
    if (row.status === "revoked") return { supersededRunIds: [], cancelledRunIds: [], runningApplyIds: [] }
    // Nobody has received a value of a restored, unconfirmed one.
    if (row.status !== "unconfirmed") {
      yield* held.keep(row, yield* connections.secrets(row))
      yield* held.keepTokens(row)
    }
    yield* connections.revoke(id)
    const supersededRunIds = yield* ledger.supersedeUsers(id, connectionRevoked)
    const stopped = yield* stopRuns(id)
    yield* audited(context, row, "connection.revoke", { supersededRunIds, ...stopped })
    return { supersededRunIds, ...stopped }
  }).pipe(transaction(sql))
})
