import { Effect, Option, Schema, Struct } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Workspace } from "../../../schema/records/Workspace.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { idOrNull } from "../../base/Identity.ts"
import { type CursorBinding, Cursors } from "../../base/paging/Cursors.ts"
import type { PageRequest } from "../../base/paging/RowPages.ts"

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
