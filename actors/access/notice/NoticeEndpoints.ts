import { Context, DateTime, Duration, Effect, Layer, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type {
  CreatedNoticeEndpoint,
  NewNoticeEndpoint,
  NoticeEndpointChange,
  RotateNoticeSecret
} from "../../../schema/api/NoticesApi.ts"
import type { CommandContext, IdempotentRequest, Replayable } from "../../../schema/commands/Command.ts"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { NoticeDeliveryId, NoticeEndpointId, Subject, type WorkspaceId } from "../../../schema/records/Ids.ts"
import {
  mostNoticeEndpoints,
  type NoticeDelivery,
  type NoticeDeliveryLog,
  type NoticeDeliveryStatus,
  type NoticeEndpoint,
  type NoticeFilter,
  type NoticeKind
} from "../../../schema/records/NoticeEndpoint.ts"
import { roleAtLeast } from "../../../schema/records/Workspace.ts"
import { Audit, type AuditData } from "../../base/audit/Audit.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { newId, now, nowAfter } from "../../base/Identity.ts"
import { readNoticeAddress } from "../../base/notice/NoticeAddress.ts"
import { sentNotice } from "../../base/notice/NoticeBody.ts"
import {
  NoticeAttemptRow,
  NoticeDeliveryRow,
  NoticeEndpointRow,
  NoticeFilterJson,
  NoticeKindsJson,
  NoticeSettings,
  toNoticeDelivery,
  toNoticeEndpoint
} from "../../base/notice/NoticeRows.ts"
import { formerSecretPlace, noticeAddressPlace, noticeSecretPlace } from "../../base/notice/NoticeSecrets.ts"
import {
  changeEndpoint,
  dropWaiting,
  insertEndpoint,
  removeEndpoints,
  sendAgain,
  writeTest
} from "../../base/notice/Notices.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { type Page, pageOfRows, type PageRequest } from "../../base/paging/RowPages.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import { permissionDenied, roleHeld } from "../member/InvitationRights.ts"

/**
 * The owner of the changed endpoints: either a Workspace, whose admins make the change, or the server, whose operator makes
 * it.
 */
export type NoticeScope = { readonly workspaceId: WorkspaceId; readonly subject: string } | "operator"

export interface DeliveryFilter {
  readonly status?: NoticeDeliveryStatus | undefined
  readonly kind?: NoticeKind | undefined
}

/** Default number of minutes for which the previous secret remains valid. */
const defaultOverlap = 24 * 60
const secretBytes = 32

const Counted = rowShape({ count: Schema.Int })

const ownedBy = (scope: NoticeScope): WorkspaceId | null => (scope === "operator" ? null : scope.workspaceId)

/** Returns the owner of the endpoint in the form that receipts and cursors use. */
const scopeName = (scope: NoticeScope) => ownedBy(scope) ?? "server"

const filterWords = ({ capsuleIds, environments, projectIds }: NoticeFilter): AuditData => ({
  ...(capsuleIds === undefined ? {} : { capsuleIds }),
  ...(environments === undefined ? {} : { environments }),
  ...(projectIds === undefined ? {} : { projectIds })
})

/**
 * Endpoints of a Workspace, which its admins manage, and of the server, which the operator manages. The URL and the secret are
 * sealed and never returned. The audit trail contains only the host.
 */
export class NoticeEndpoints extends Context.Service<
  NoticeEndpoints,
  {
    readonly list: (scope: NoticeScope, page: PageRequest) => Effect.Effect<Page<NoticeEndpoint>, ApiError>
    readonly read: (scope: NoticeScope, id: NoticeEndpointId) => Effect.Effect<NoticeEndpoint, ApiError>
    /** Creates an endpoint. Only the first response contains the secret. */
    readonly create: (
      context: CommandContext,
      scope: NoticeScope,
      request: NewNoticeEndpoint,
      idempotency?: IdempotentRequest
    ) => Effect.Effect<Replayable<CreatedNoticeEndpoint>, ApiError>
    readonly update: (
      context: CommandContext,
      scope: NoticeScope,
      id: NoticeEndpointId,
      change: NoticeEndpointChange
    ) => Effect.Effect<NoticeEndpoint, ApiError>
    /** Removes the endpoint and all its deliveries, including waiting deliveries. */
    readonly remove: (
      context: CommandContext,
      scope: NoticeScope,
      id: NoticeEndpointId
    ) => Effect.Effect<void, ApiError>
    readonly rotate: (
      context: CommandContext,
      scope: NoticeScope,
      id: NoticeEndpointId,
      request: RotateNoticeSecret,
      idempotency?: IdempotentRequest
    ) => Effect.Effect<Replayable<CreatedNoticeEndpoint>, ApiError>
    /** Queues a test notice. Also works for a disabled endpoint. */
    readonly test: (
      context: CommandContext,
      scope: NoticeScope,
      id: NoticeEndpointId,
      idempotency?: IdempotentRequest
    ) => Effect.Effect<Replayable<NoticeDelivery>, ApiError>
    readonly deliveries: (
      scope: NoticeScope,
      id: NoticeEndpointId,
      filter: DeliveryFilter,
      page: PageRequest
    ) => Effect.Effect<Page<NoticeDelivery>, ApiError>
    readonly delivery: (
      scope: NoticeScope,
      id: NoticeEndpointId,
      deliveryId: NoticeDeliveryId
    ) => Effect.Effect<NoticeDeliveryLog, ApiError>
    /** Sends a delivery again, with the full number of attempts. A waiting delivery is sent immediately. */
    readonly replay: (
      context: CommandContext,
      scope: NoticeScope,
      id: NoticeEndpointId,
      deliveryId: NoticeDeliveryId
    ) => Effect.Effect<NoticeDelivery, ApiError>
  }
>()("svc/actors/access/notice/NoticeEndpoints") {
  static readonly layer = Layer.effect(
    NoticeEndpoints,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  const audit = yield* Audit
  const vault = yield* Vault
  const cursors = yield* Cursors
  const receipts = yield* Receipts
  const settings = yield* NoticeSettings
  const random = yield* SecureRandom.SecureRandom
  const withRandom = Effect.provideService(SecureRandom.SecureRandom, random)
  const inSql = Effect.provideService(SqlClient.SqlClient, sql)

  const allowed = Effect.fnUntraced(function* (scope: NoticeScope) {
    if (scope === "operator") return
    const held = yield* inSql(roleHeld(scope.workspaceId, { subject: scope.subject }))
    if (held === undefined || !roleAtLeast(held, "admin")) {
      return yield* permissionDenied("Owners and admins manage notices; ask one of them.")
    }
    yield* inSql(refuseArchived(scope.workspaceId))
  })

  const belongsTo = (client: SqlClient.SqlClient, scope: NoticeScope) =>
    scope === "operator" ? client`workspace_id IS NULL` : client`workspace_id = ${scope.workspaceId}`

  const find = Effect.fnUntraced(function* (client: SqlClient.SqlClient, scope: NoticeScope, id: NoticeEndpointId) {
    const [row] = yield* Effect.orDie(
      NoticeEndpointRow.rows(client)`SELECT * FROM notice_endpoints WHERE id = ${id} AND ${belongsTo(client, scope)}`
    )
    return row === undefined ? yield* notFound("Notice endpoint") : row
  })

  const shown = Effect.fnUntraced(function* (client: SqlClient.SqlClient, row: NoticeEndpointRow) {
    const [waiting] = yield* Effect.orDie(Counted.rows(client)`SELECT COUNT(*) AS count FROM notice_deliveries
      WHERE endpoint_id = ${row.id} AND status = 'waiting'`)
    return toNoticeEndpoint(row, waiting?.count ?? 0, yield* now)
  })

  const audited = (context: CommandContext, row: NoticeEndpointRow, action: string, data: AuditData = {}) =>
    audit.append({
      workspaceId: row.workspace_id,
      actor: context.actor,
      action: `notice_endpoint.${action}`,
      target: { kind: "notice_endpoint", id: row.id },
      data: { name: row.name, host: row.host, ...data },
      requestId: context.requestId
    })

  const words = (row: NoticeEndpointRow): AuditData => ({
    format: row.format,
    kinds: NoticeKindsJson.read(row.kinds),
    ...filterWords(NoticeFilterJson.read(row.filter))
  })

  const addressOf = (text: string) =>
    Result.match(readNoticeAddress(text, settings), {
      onFailure: (problem) => Effect.fail(invalidRequest(`address: it ${problem}`)),
      onSuccess: (address) => Effect.succeed(address)
    })

  /**
   * Checks that every record in a filter belongs to the Workspace. A filter of one of the server's endpoints may refer to
   * any existing record.
   */
  const checkFilter = Effect.fnUntraced(function* (scope: NoticeScope, filter: NoticeFilter | undefined) {
    for (const { field, from, names } of [
      { field: "projectIds", from: "projects", names: filter?.projectIds ?? [] },
      { field: "capsuleIds", from: "capsules", names: filter?.capsuleIds ?? [] }
    ]) {
      if (names.length === 0) continue
      const [found] = yield* Effect.orDie(Counted.rowsOnce(sql)`SELECT COUNT(*) AS count FROM ${sql(from)}
        WHERE ${sql.and([
          sql.in("id", [...new Set<string>(names)]),
          ...(scope === "operator" ? [] : [sql`workspace_id = ${scope.workspaceId}`])
        ])}`)
      if ((found?.count ?? 0) < new Set<string>(names).size) {
        return yield* invalidRequest(`filter.${field}: the Workspace does not have all of them.`)
      }
    }
  })

  const checkRoom = Effect.fnUntraced(function* (scope: NoticeScope) {
    const [found] = yield* Effect.orDie(
      Counted.rows(sql)`SELECT COUNT(*) AS count FROM notice_endpoints WHERE ${belongsTo(sql, scope)}`
    )
    if ((found?.count ?? 0) >= mostNoticeEndpoints) {
      return yield* failedPrecondition(
        `There are ${mostNoticeEndpoints} notice endpoints, the most that are allowed. Remove one first.`
      )
    }
  })

  const mintSecret = Effect.map(random.randomBytes(secretBytes), (bytes) =>
    Redacted.make(`whsec_${Buffer.from(bytes).toString("base64")}`)
  )

  const createOnce = Effect.fnUntraced(function* (
    context: CommandContext,
    scope: NoticeScope,
    request: NewNoticeEndpoint
  ) {
    const { address, host } = yield* addressOf(request.address)
    yield* checkFilter(scope, request.filter)
    yield* checkRoom(scope)
    const at = yield* now
    const id = yield* newId(NoticeEndpointId, "nep").pipe(withRandom)
    const owner = { id, workspace_id: ownedBy(scope) }
    const secret = request.format === "json" ? yield* mintSecret : undefined
    const row: NoticeEndpointRow = {
      ...owner,
      name: request.name,
      format: request.format,
      host,
      address: yield* vault.seal(noticeAddressPlace(owner), Redacted.make(address)),
      secret: secret === undefined ? null : yield* vault.seal(noticeSecretPlace(owner), secret),
      former_secret: null,
      former_secret_until: null,
      secret_version: secret === undefined ? 0 : 1,
      kinds: NoticeKindsJson.write([...new Set(request.kinds)]),
      filter: NoticeFilterJson.write(request.filter ?? {}),
      state: "active",
      reason: null,
      failing_since: null,
      paused_until: null,
      last_accepted_at: null,
      created_by: scope === "operator" ? null : Subject.make(scope.subject),
      created_at: at,
      updated_at: at
    }
    yield* insertEndpoint(sql, row)
    yield* audited(context, row, "create", words(row))
    return { endpoint: yield* shown(sql, row), ...(secret === undefined ? {} : { secret: Redacted.value(secret) }) }
  })

  /** Runs a create request once per key. A repeated request returns the current record without a secret. */
  const repeatable = <A extends object>(
    context: CommandContext,
    scope: NoticeScope,
    route: string,
    idempotency: IdempotentRequest | undefined,
    create: Effect.Effect<A, ApiError>,
    resultId: (value: A) => string,
    again: (resultId: string) => Effect.Effect<A, ApiError>
  ): Effect.Effect<Replayable<A>, ApiError> =>
    idempotency === undefined
      ? Effect.map(create, (value) => ({ value, replayed: false }))
      : receipts.once({ scope: scopeName(scope), actor: context.actorKey, route }, idempotency, {
          create: Effect.map(create, (value) => ({ value, receipt: { resultId: resultId(value), firstStatus: 201 } })),
          replay: ({ resultId: id }) => again(id)
        })

  const present = (scope: NoticeScope) => (id: string) =>
    Effect.map(
      Effect.flatMap(find(sql, scope, NoticeEndpointId.make(id)), (row) => shown(sql, row)),
      (endpoint): CreatedNoticeEndpoint => ({ endpoint })
    )

  const rotateOnce = Effect.fnUntraced(function* (
    context: CommandContext,
    scope: NoticeScope,
    id: NoticeEndpointId,
    { overlapMinutes = defaultOverlap, secretVersion }: RotateNoticeSecret
  ) {
    const row = yield* find(sql, scope, id)
    if (row.secret === null) return yield* failedPrecondition("Only endpoints of the format json have a secret.")
    if (row.secret_version !== secretVersion) {
      return yield* new ApiError({
        code: "guard_conflict",
        message: `secretVersion: the endpoint has ${row.secret_version}, not ${secretVersion}. Somebody has rotated the secret since; read the endpoint again.`
      })
    }
    const former = yield* Effect.orDie(vault.openText(noticeSecretPlace(row), row.secret))
    const secret = yield* mintSecret
    const until = DateTime.formatIso(DateTime.addDuration(yield* DateTime.now, Duration.minutes(overlapMinutes)))
    const changes = {
      secret: yield* vault.seal(noticeSecretPlace(row), secret),
      former_secret: overlapMinutes === 0 ? null : yield* vault.seal(formerSecretPlace(row), former),
      former_secret_until: overlapMinutes === 0 ? null : until,
      secret_version: secretVersion + 1,
      updated_at: yield* now
    }
    yield* changeEndpoint(sql, id, changes)
    yield* audited(context, row, "secret.rotate", { version: secretVersion + 1, overlapMinutes })
    return { endpoint: yield* shown(sql, { ...row, ...changes }), secret: Redacted.value(secret) }
  })

  const deliveryOf = Effect.fnUntraced(function* (
    client: SqlClient.SqlClient,
    scope: NoticeScope,
    id: NoticeEndpointId,
    deliveryId: NoticeDeliveryId
  ) {
    const endpoint = yield* find(client, scope, id)
    const [row] = yield* Effect.orDie(
      NoticeDeliveryRow.rows(client)`SELECT * FROM notice_deliveries WHERE id = ${deliveryId} AND endpoint_id = ${id}`
    )
    return row === undefined ? yield* notFound("Delivery") : { endpoint, row }
  })

  return NoticeEndpoints.of({
    list: Effect.fn("NoticeEndpoints.list")(function* (scope, page) {
      const list = {
        route: "notices.endpoints",
        newestFirst: false,
        conditions: [belongsTo(read, scope)],
        filter: [scopeName(scope)]
      }
      const found = yield* pageOfRows(NoticeEndpointRow, read, cursors, list, page)
      return { ...found, items: yield* Effect.forEach(found.items, (row) => shown(read, row)) }
    }),
    read: Effect.fn("NoticeEndpoints.read")(function* (scope, id) {
      return yield* shown(read, yield* find(read, scope, id))
    }),
    create: Effect.fn("NoticeEndpoints.create")(function* (context, scope, request, idempotency) {
      yield* allowed(scope)
      return yield* repeatable(
        context,
        scope,
        "notices.createEndpoint",
        idempotency,
        createOnce(context, scope, request),
        ({ endpoint }) => endpoint.id,
        present(scope)
      )
    }, transaction(sql)),
    update: Effect.fn("NoticeEndpoints.update")(function* (context, scope, id, change) {
      yield* allowed(scope)
      const before = yield* find(sql, scope, id)
      const moved = change.address === undefined ? undefined : yield* addressOf(change.address)
      yield* checkFilter(scope, change.filter)
      const at = yield* nowAfter(before.updated_at)
      const changes = {
        name: change.name ?? before.name,
        ...(moved === undefined
          ? {}
          : {
              host: moved.host,
              address: yield* vault.seal(noticeAddressPlace(before), Redacted.make(moved.address))
            }),
        ...(change.kinds === undefined ? {} : { kinds: NoticeKindsJson.write([...new Set(change.kinds)]) }),
        ...(change.filter === undefined ? {} : { filter: NoticeFilterJson.write(change.filter) }),
        ...(change.state === "active"
          ? { state: "active" as const, reason: null, failing_since: null, paused_until: null }
          : change.state === "disabled" && before.state === "active"
            ? { state: "disabled" as const, reason: "person" as const }
            : {}),
        updated_at: at
      }
      const row = { ...before, ...changes }
      yield* changeEndpoint(sql, id, changes)
      if (before.state === "active" && row.state !== "active") yield* dropWaiting(sql, id, at)
      yield* audited(context, row, "update", {
        ...words(row),
        state: row.state,
        ...(moved === undefined ? {} : { addressChanged: true })
      })
      return yield* shown(sql, row)
    }, transaction(sql)),
    remove: Effect.fn("NoticeEndpoints.remove")(function* (context, scope, id) {
      yield* allowed(scope)
      const row = yield* find(sql, scope, id)
      yield* removeEndpoints(sql, sql`id = ${id}`)
      yield* audited(context, row, "remove")
    }, transaction(sql)),
    rotate: Effect.fn("NoticeEndpoints.rotate")(function* (context, scope, id, request, idempotency) {
      yield* allowed(scope)
      return yield* repeatable(
        context,
        scope,
        `notices.rotateSecret ${id}`,
        idempotency,
        rotateOnce(context, scope, id, request),
        () => id,
        present(scope)
      )
    }, transaction(sql)),
    test: Effect.fn("NoticeEndpoints.test")(function* (context, scope, id, idempotency) {
      yield* allowed(scope)
      const create = Effect.gen(function* () {
        const row = yield* find(sql, scope, id)
        const { subject } = context.actor
        const delivery = yield* writeTest(sql, row, subject === undefined ? {} : { by: subject })
        yield* audited(context, row, "test")
        return toNoticeDelivery(delivery)
      })
      return yield* repeatable(
        context,
        scope,
        `notices.testEndpoint ${id}`,
        idempotency,
        create,
        (delivery) => delivery.id,
        (resultId) =>
          Effect.map(deliveryOf(sql, scope, id, NoticeDeliveryId.make(resultId)), ({ row }) => toNoticeDelivery(row))
      )
    }, transaction(sql)),
    deliveries: Effect.fn("NoticeEndpoints.deliveries")(function* (scope, id, { kind, status }, page) {
      yield* find(read, scope, id)
      const list = {
        route: "notices.deliveries",
        newestFirst: true,
        conditions: [
          read`endpoint_id = ${id}`,
          ...(status === undefined ? [] : [read`status = ${status}`]),
          ...(kind === undefined ? [] : [read`kind = ${kind}`])
        ],
        filter: [scopeName(scope), id, status, kind]
      }
      const found = yield* pageOfRows(NoticeDeliveryRow, read, cursors, list, page)
      return { ...found, items: found.items.map(toNoticeDelivery) }
    }),
    delivery: Effect.fn("NoticeEndpoints.delivery")(function* (scope, id, deliveryId) {
      const { row } = yield* deliveryOf(read, scope, id, deliveryId)
      const attempts = yield* Effect.orDie(
        NoticeAttemptRow.rows(read)`SELECT * FROM notice_attempts WHERE delivery_id = ${deliveryId} ORDER BY number`
      )
      const notice = yield* sentNotice(read, settings, row)
      const log = attempts.map(({ at, milliseconds, number, outcome, status }) => ({
        number,
        at,
        outcome,
        ...(status === null ? {} : { status }),
        milliseconds
      }))
      return { ...toNoticeDelivery(row), log, notice }
    }),
    replay: Effect.fn("NoticeEndpoints.replay")(function* (context, scope, id, deliveryId) {
      yield* allowed(scope)
      const { endpoint, row } = yield* deliveryOf(sql, scope, id, deliveryId)
      if (endpoint.state !== "active") {
        return yield* failedPrecondition(`The endpoint is ${endpoint.state}. Activate it first.`)
      }
      const sent = yield* sendAgain(sql, row)
      yield* audited(context, endpoint, "replay", { deliveryId, kind: row.kind })
      return toNoticeDelivery(sent)
    }, transaction(sql))
  })
})
