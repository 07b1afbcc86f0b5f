import { Context, Effect, Layer, Option, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { WorkspaceDriftChecks } from "../../../schema/records/DriftChecks.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Workspace } from "../../../schema/records/Workspace.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { idOrNull, now } from "../../base/Identity.ts"
import type { PageRequest } from "../../base/paging/RowPages.ts"
import { refuseArchived } from "./Projects.ts"
import { createWorkspace, findPersonal, isWhole, repairPersonal } from "./WorkspaceCreation.ts"
import { StoredWorkspace } from "./StoredWorkspace.ts"
import { providedService } from "../../base/Provided.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { type CursorBinding, Cursors } from "../../base/paging/Cursors.ts"

/** A Workspace joined with the reader's membership. */
const WorkspaceRow = Schema.Struct({
  ...Struct.omit(Workspace.fields, ["automationPause", "driftChecks"]),
  driftCheckHours: Schema.NullOr(Schema.Int),
  archivedAt: Schema.NullOr(Workspace.fields.createdAt),
  automationPausedAt: Schema.NullOr(Workspace.fields.createdAt),
  automationPausedBy: Schema.NullOr(Schema.String),
  automationPauseReason: Schema.NullOr(Schema.String)
})
type WorkspaceRow = typeof WorkspaceRow.Type

/** Columns for a query on `workspaces w JOIN memberships m`. */
const workspaceColumns = `w.id, w.handle, w.display_name AS "displayName", w.type, m.role,
  w.archived_at AS "archivedAt", w.automation_paused_at AS "automationPausedAt",
  w.automation_paused_by AS "automationPausedBy", w.automation_pause_reason AS "automationPauseReason",
  w.drift_check_hours AS "driftCheckHours", w.created_at AS "createdAt", w.updated_at AS "updatedAt"`

const toWorkspace = ({
  archivedAt,
  automationPausedAt,
  automationPausedBy,
  automationPauseReason,
  driftCheckHours,
  ...rest
}: WorkspaceRow): Workspace => ({
  ...rest,
  driftChecks:
    driftCheckHours === null || driftCheckHours === 0 ? { mode: "off" } : { mode: "every", hours: driftCheckHours },
  ...(archivedAt === null ? {} : { archivedAt }),
  ...(automationPausedAt === null || automationPausedBy === null
    ? {}
    : {
        automationPause: {
          at: automationPausedAt,
          by: automationPausedBy,
          ...(automationPauseReason === null ? {} : { reason: automationPauseReason })
        }
      })
})

export interface WorkspaceListRequest extends PageRequest {
  readonly order?: "created_asc" | "updated_desc" | undefined
  /** The Workspace to add to the first page if it would otherwise be on a later page. */
  readonly selectedWorkspaceId?: string | undefined
  readonly includeTotal?: boolean | undefined
  /** If the caller's credential is bound to a Workspace, the only Workspace to which it gives access. */
  readonly boundWorkspaceId?: WorkspaceId | undefined
}

export interface WorkspaceList {
  readonly workspaces: ReadonlyArray<Workspace>
  readonly truncated: boolean
  readonly nextCursor?: string | undefined
  readonly total?: number | undefined
  readonly pinnedWorkspaceId?: Workspace["id"] | undefined
}

// Every row also contains the counts. An empty page has one row that contains only the counts.
const Counts = Schema.Struct({ total: Schema.Int, id: Schema.Null })
const Counted = Schema.Struct({ total: Schema.Int, ...WorkspaceRow.fields })
const countedRows = storedRecord(Schema.Array(Schema.Union([Counted, Counts])))
const workspaceRows = storedRecord(Schema.Array(WorkspaceRow))

interface MembershipPage {
  readonly subject: string
  readonly order: "created_asc" | "updated_desc"
  readonly anchor: readonly [at: string, id: string] | undefined
  readonly limit: number
  readonly boundWorkspaceId?: WorkspaceId | undefined
}

/**
 * Reads the active memberships of a subject in one database snapshot: their total number, regardless of the cursor, and
 * `limit + 1` rows after the cursor.
 */
const readPage = Effect.fn("readWorkspacePage")(function* (page: MembershipPage) {
  const read = yield* ReadSql
  const descending = page.order === "updated_desc"
  const at = read.literal(descending ? `"updatedAt"` : `"createdAt"`)
  const direction = read.literal(descending ? "DESC" : "ASC")
  const bound = page.boundWorkspaceId === undefined ? read`1 = 1` : read`w.id = ${page.boundWorkspaceId}`
  const after =
    page.anchor === undefined
      ? read`1 = 1`
      : read`(${at}, id) ${read.literal(descending ? "<" : ">")} (${page.anchor[0]}, ${page.anchor[1]})`
  const rows = yield* Effect.orDie(read`WITH mine AS (
        SELECT ${read.literal(workspaceColumns)} FROM workspaces w JOIN memberships m ON m.workspace_id = w.id
        WHERE m.subject = ${page.subject} AND m.status = 'active' AND ${bound}
      ),
      page AS (SELECT * FROM mine WHERE ${after} ORDER BY ${at} ${direction}, id ${direction} LIMIT ${page.limit + 1})
      SELECT counts.total, page.* FROM (SELECT COUNT(*) AS total FROM mine) AS counts LEFT JOIN page ON 1 = 1
      ORDER BY page.${at} ${direction}, page.id ${direction}`).pipe(Effect.map(countedRows))
  const found = rows.flatMap(({ total: _total, ...row }) => (row.id === null ? [] : [toWorkspace(row)]))
  return {
    total: rows[0]?.total ?? 0,
    workspaces: found.slice(0, page.limit),
    more: found.length > page.limit
  }
})

/** Returns a Workspace with the subject's role, if the membership is active. */
export const readMemberWorkspace = Effect.fn("readMemberWorkspace")(function* (
  subject: string,
  workspaceId: WorkspaceId
) {
  const read = yield* ReadSql
  const [row] = yield* Effect.orDie(read`SELECT ${read.literal(workspaceColumns)}
      FROM workspaces w JOIN memberships m ON m.workspace_id = w.id
      WHERE w.id = ${workspaceId} AND m.subject = ${subject} AND m.status = 'active'`).pipe(Effect.map(workspaceRows))
  return Option.map(Option.fromUndefinedOr(row), toWorkspace)
})

const anchorOf = Effect.fnUntraced(function* (binding: CursorBinding, cursor: string | undefined) {
  if (cursor === undefined) return undefined
  const cursors = yield* Cursors
  const [at = "", id = ""] = yield* cursors.decode(binding, cursor, 2)
  return [at, id] as const
})

/**
 * Returns the selected Workspace, unless it is already on the page. Fails with `permission_denied` if the caller is not a member.
 */
const findPinned = Effect.fnUntraced(function* (
  subject: string,
  request: WorkspaceListRequest,
  page: ReadonlyArray<Workspace>
) {
  const selected = request.selectedWorkspaceId
  if (selected === undefined || request.cursor !== undefined || page.some(({ id }) => id === selected)) return undefined
  const id = idOrNull(WorkspaceId, selected)
  const allowed = request.boundWorkspaceId === undefined || request.boundWorkspaceId === id
  const workspace = allowed && id !== null ? yield* readMemberWorkspace(subject, id) : Option.none()
  if (Option.isSome(workspace)) return workspace.value
  return yield* new ApiError({
    code: "permission_denied",
    message: "selectedWorkspaceId: you are not an active member of this Workspace."
  })
})

/** Lists the caller's Workspaces for interactive use. */
export const listWorkspaces = Effect.fn("listWorkspaces")(function* (subject: string, request: WorkspaceListRequest) {
  const cursors = yield* Cursors
  const order = request.order ?? "created_asc"
  const binding: CursorBinding = { route: "workspaces.list", subject, filter: [order, request.boundWorkspaceId] }
  const anchor = yield* anchorOf(binding, request.cursor)
  const { boundWorkspaceId, limit } = request
  const page = yield* readPage({ subject, order, anchor, limit, boundWorkspaceId })
  const pinned = yield* findPinned(subject, request, page.workspaces)
  const last = page.workspaces.at(-1)
  const nextCursor =
    page.more && last !== undefined
      ? yield* cursors.encode(binding, [order === "updated_desc" ? last.updatedAt : last.createdAt, last.id])
      : undefined
  return {
    workspaces: pinned === undefined ? page.workspaces : [pinned, ...page.workspaces],
    truncated: page.more,
    nextCursor,
    total: request.includeTotal === true ? page.total : undefined,
    pinnedWorkspaceId: pinned?.id
  } satisfies WorkspaceList
})

/** Lists all active memberships of an account, including archived Workspaces. `total` does not depend on the cursor. */
export const inventoryWorkspaces = Effect.fn("inventoryWorkspaces")(function* (subject: string, request: PageRequest) {
  const cursors = yield* Cursors
  const binding: CursorBinding = { route: "views.workspaces.v1", subject }
  const anchor = yield* anchorOf(binding, request.cursor)
  const page = yield* readPage({ subject, order: "created_asc", anchor, limit: request.limit })
  const last = page.workspaces.at(-1)
  return {
    kind: "svc.account-workspace-inventory@v1" as const,
    workspaces: page.workspaces,
    total: page.total,
    returned: page.workspaces.length,
    limit: request.limit,
    truncated: page.more,
    ...(page.more && last !== undefined
      ? { nextCursor: yield* cursors.encode(binding, [last.createdAt, last.id]) }
      : {})
  }
})

/** The error if a membership was restored from a backup and nobody has confirmed it yet. */
export const membershipUnconfirmed = new ApiError({
  code: "restore_unconfirmed",
  message:
    "The service was restored from a backup, and your membership of this Workspace is not confirmed yet. Ask the operator, who confirms it with `svc admin restore-review`."
})

/**
 * Returns true if all of a person's memberships were restored from a backup. The person receives no new memberships until
 * one of the restored memberships is confirmed.
 */
const isUnconfirmed = Effect.fn("isUnconfirmed")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT 1 AS one FROM memberships WHERE subject = ${subject} AND status = 'unconfirmed'
    AND NOT EXISTS (SELECT 1 FROM memberships a WHERE a.subject = ${subject} AND a.status = 'active') LIMIT 1`
  return rows.length > 0
}, Effect.orDie)

export interface NewWorkspace {
  readonly handle: string
  readonly displayName?: string | undefined
  readonly type?: "personal" | "organization" | undefined
}

export type WorkspaceInventory = Effect.Success<ReturnType<typeof inventoryWorkspaces>>

/** Operations on Workspaces for their members. Callers have already authorised the subject. */
export class Workspaces extends Context.Service<
  Workspaces,
  {
    /** Creates a Workspace with the creator as its owner. Fails with `failed_precondition` if the handle is taken. */
    readonly create: (
      context: CommandContext,
      subject: string,
      request: NewWorkspace
    ) => Effect.Effect<Workspace, ApiError>
    /** Returns the Workspace with the subject's role. Fails with `not_found` if the subject has no active membership. */
    readonly read: (subject: string, workspaceId: WorkspaceId) => Effect.Effect<Workspace, ApiError>
    /**
     * Changes a Workspace. Fails with `failed_precondition` if the Workspace is archived, because an archived Workspace can
     * only be restored.
     */
    readonly update: (
      context: CommandContext,
      subject: string,
      workspaceId: WorkspaceId,
      change: {
        readonly displayName?: string | undefined
        readonly archived?: boolean | undefined
        readonly driftChecks?: WorkspaceDriftChecks | undefined
      }
    ) => Effect.Effect<Workspace, ApiError>
    /**
     * Pauses or resumes automation in the Workspace. If automation is already paused, pausing it again keeps the original
     * person and reason.
     */
    readonly setAutomation: (
      context: CommandContext,
      subject: string,
      workspaceId: WorkspaceId,
      change: { readonly paused: boolean; readonly reason?: string | undefined }
    ) => Effect.Effect<Workspace, ApiError>
    /** Creates or completes the subject's personal Workspace. Writes nothing if the Workspace is complete. */
    readonly ensurePersonal: (context: CommandContext, subject: string) => Effect.Effect<void>
    readonly list: (subject: string, request: WorkspaceListRequest) => Effect.Effect<WorkspaceList, ApiError>
    readonly inventory: (subject: string, page: PageRequest) => Effect.Effect<WorkspaceInventory, ApiError>
  }
>()("svc/actors/ledger/workspace/Workspaces") {
  static readonly layer = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit

      const readOne = Effect.fnUntraced(function* (subject: string, workspaceId: WorkspaceId) {
        const workspace = yield* readMemberWorkspace(subject, workspaceId)
        return Option.isSome(workspace) ? workspace.value : yield* notFound("Workspace")
      })

      const noteCreation = (context: CommandContext, workspaceId: WorkspaceId, type: string) =>
        audit.append({
          workspaceId,
          actor: context.actor,
          action: "workspace.create",
          target: { kind: "workspace", id: workspaceId },
          data: { type },
          requestId: context.requestId
        })

      return yield* providedService(Workspaces, {
        create: Effect.fn("Workspaces.create")(function* (context, subject, request) {
          const type = request.type ?? "organization"
          const id = yield* Effect.gen(function* () {
            if (yield* isUnconfirmed(subject)) return yield* membershipUnconfirmed
            const workspaceId = yield* createWorkspace({
              handle: request.handle,
              displayName: request.displayName ?? request.handle,
              type,
              owner: subject
            })
            yield* noteCreation(context, workspaceId, type)
            return workspaceId
          }).pipe(transaction(sql))
          return yield* readOne(subject, id)
        }),
        read: Effect.fn("Workspaces.read")(readOne),
        update: Effect.fn("Workspaces.update")(function* (context, subject, workspaceId, change) {
          yield* Effect.gen(function* () {
            const at = yield* now
            const { driftChecks } = change
            const archivesAgain =
              change.archived === true && change.displayName === undefined && driftChecks === undefined
            if (change.archived !== false && !archivesAgain) yield* refuseArchived(workspaceId)
            const changed = yield* sql`UPDATE workspaces SET ${StoredWorkspace.changes(sql, {
              updated_at: at,
              ...(change.displayName === undefined ? {} : { display_name: change.displayName }),
              ...(driftChecks === undefined
                ? {}
                : {
                    drift_check_hours: driftChecks.mode === "every" ? driftChecks.hours : null,
                    drift_check_by: driftChecks.mode === "every" ? subject : null
                  })
            })} WHERE id = ${workspaceId} RETURNING id`
            if (changed.length === 0) return yield* notFound("Workspace")
            if (change.archived === true) {
              yield* sql`UPDATE workspaces SET archived_at = COALESCE(archived_at, ${at}) WHERE id = ${workspaceId}`
            }
            if (change.archived === false)
              yield* sql`UPDATE workspaces SET archived_at = NULL WHERE id = ${workspaceId}`
            yield* audit.append({
              workspaceId,
              actor: context.actor,
              action: "workspace.update",
              target: { kind: "workspace", id: workspaceId },
              data: {
                renamed: change.displayName !== undefined,
                ...(change.archived === undefined ? {} : { archived: change.archived }),
                ...(driftChecks === undefined
                  ? {}
                  : { driftCheckHours: driftChecks.mode === "every" ? driftChecks.hours : 0 })
              },
              requestId: context.requestId
            })
          }).pipe(transaction(sql))
          return yield* readOne(subject, workspaceId)
        }),
        setAutomation: Effect.fn("Workspaces.setAutomation")(function* (context, subject, workspaceId, change) {
          yield* Effect.gen(function* () {
            yield* refuseArchived(workspaceId)
            const at = yield* now
            const isPaused = change.paused ? sql`IS NULL` : sql`IS NOT NULL`
            const changed = yield* sql`UPDATE workspaces SET ${StoredWorkspace.changes(sql, {
              automation_paused_at: change.paused ? at : null,
              automation_paused_by: change.paused ? subject : null,
              automation_pause_reason: change.paused ? (change.reason ?? null) : null,
              updated_at: at
            })} WHERE id = ${workspaceId} AND automation_paused_at ${isPaused} RETURNING id`
            if (changed.length === 0) return
            yield* audit.append({
              workspaceId,
              actor: context.actor,
              action: change.paused ? "workspace.automation.pause" : "workspace.automation.resume",
              target: { kind: "workspace", id: workspaceId },
              data: change.reason === undefined ? {} : { reason: change.reason },
              requestId: context.requestId
            })
          }).pipe(transaction(sql))
          return yield* readOne(subject, workspaceId)
        }),
        ensurePersonal: Effect.fn("Workspaces.ensurePersonal")(function* (context, subject) {
          const [found] = yield* findPersonal(read)(subject)
          if (found === undefined || isWhole(found)) return
          if (yield* isUnconfirmed(subject)) return
          yield* repairPersonal(subject).pipe(
            Effect.tap((created) => (created === undefined ? Effect.void : noteCreation(context, created, "personal"))),
            transaction(sql)
          )
        }, Effect.orDie),
        list: Effect.fn("Workspaces.list")((subject, request) => listWorkspaces(subject, request)),
        inventory: Effect.fn("Workspaces.inventory")((subject, page) => inventoryWorkspaces(subject, page))
      })
    })
  )
}
