import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import type { Departure } from "../../../schema/records/Departure.ts"
import { AccessTokenId, CapsuleId, ConnectionId, SourceId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Member, Role, roleAtLeast } from "../../../schema/records/Workspace.ts"
import { endAutomationTokens, renameAutomation } from "../account/AutomationSubjects.ts"
import { Audit, type AuditData } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { type CursorBinding, Cursors } from "../../base/paging/Cursors.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import { MembershipRow } from "../../ledger/workspace/MembershipRow.ts"
import { kindRefusal, permissionDenied, roleHeld } from "./InvitationRights.ts"
import { InvitationRow } from "./InvitationRow.ts"
import { unconfirmedMember } from "./ExistingMember.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { rowShape } from "../../base/database/Table.ts"
import { markReportsOfWorkspace } from "../../ledger/pull-request-report/ReportMarks.ts"

const TokenShape = rowShape({
  token_id: AccessTokenId,
  name: Schema.String,
  workspace_id: Schema.NullOr(WorkspaceId),
  last_used_at: Schema.NullOr(Timestamp),
  expires_at: Schema.NullOr(Timestamp)
})

const KeptShape = rowShape({
  token_id: AccessTokenId,
  name: Schema.String,
  subject: Subject,
  automation: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Timestamp)
})

// Declares only this column, because Connections and Capsules are declared in higher-level folders.
const UseShape = rowShape({
  connection_id: ConnectionId,
  display_name: Schema.String,
  use: Schema.Literals(["auto_update", "drift_check", "sync"]),
  capsule_id: Schema.NullOr(CapsuleId),
  source_id: Schema.NullOr(SourceId),
  name: Schema.String
})

/**
 * Returns everything in the Workspace that stops when the member leaves, according to the rules for Connections and tokens.
 * Call it in the transaction of the removal, or beforehand to show what would stop.
 */
const departureOf = Effect.fn("departureOf")(function* (workspaceId: WorkspaceId, subject: Subject) {
  const sql = yield* SqlClient.SqlClient
  const tokens = yield* TokenShape.rows(sql)`SELECT t.token_id, t.name, t.workspace_id, t.last_used_at, t.expires_at
    FROM access_tokens t WHERE t.subject = ${subject} AND t.revoked_at IS NULL
      AND (t.workspace_id IS NULL OR t.workspace_id = ${workspaceId}) ORDER BY t.created_at, t.token_id`
  const kept = yield* KeptShape.rows(
    sql
  )`SELECT t.token_id, t.name, t.subject, u.display_name AS automation, t.expires_at
    FROM access_tokens t JOIN users u ON u.subject = t.subject
    WHERE t.created_by = ${subject} AND t.subject <> ${subject} AND t.workspace_id = ${workspaceId} AND t.revoked_at IS NULL
    ORDER BY t.created_at, t.token_id`
  const bound = sql`FROM capsules c JOIN provider_bindings b ON b.install_config_id = c.install_config_id
    JOIN connections n ON n.id = b.connection_id
    WHERE c.workspace_id = ${workspaceId} AND ${sql.literal(livingCapsule("c."))}`
  const uses = yield* UseShape.rows(sql)`SELECT DISTINCT n.id AS connection_id, n.display_name, 'auto_update' AS use,
      c.id AS capsule_id, NULL AS source_id, c.name ${bound} AND c.auto_update_enabled = 1 AND c.auto_update_by = ${subject}
    UNION SELECT n.id, n.display_name, 'drift_check', c.id, NULL, c.name ${bound}
      AND (c.drift_check_by = ${subject} OR (c.drift_check_hours IS NULL AND EXISTS (SELECT 1 FROM workspaces w
        WHERE w.id = c.workspace_id AND w.drift_check_hours > 0 AND w.drift_check_by = ${subject})))
    UNION SELECT n.id, n.display_name, 'sync', NULL, s.id, s.name FROM sources s
      JOIN connections n ON n.id = s.auth_connection_id
      WHERE s.workspace_id = ${workspaceId} AND s.auth_connection_by = ${subject}
    ORDER BY 2, 3, 6, 4`
  const present = yield* now
  const isUsable = ({ expires_at }: { readonly expires_at: string | null }) =>
    expires_at === null || expires_at > present
  return {
    subject,
    tokens: tokens.filter(isUsable).map(({ last_used_at, name, token_id, workspace_id }) => ({
      id: token_id,
      name,
      bound: workspace_id !== null,
      ...(last_used_at === null ? {} : { lastUsedAt: last_used_at })
    })),
    connections: uses.map((row) => ({
      connectionId: row.connection_id,
      displayName: row.display_name,
      use: row.use,
      ...(row.capsule_id === null ? {} : { capsuleId: row.capsule_id }),
      ...(row.source_id === null ? {} : { sourceId: row.source_id }),
      name: row.name
    })),
    keptTokens: kept.filter(isUsable).map(({ automation, name, subject: holder, token_id }) => ({
      id: token_id,
      name,
      subject: holder,
      automation: automation ?? holder
    }))
  } satisfies Departure
}, Effect.orDie)

/** Returns the audit data of a departure. Contains only ids. */
const departureData = ({ connections, keptTokens, tokens }: Departure) => ({
  ...(tokens.length === 0 ? {} : { stoppedTokens: tokens.map(({ id }) => id) }),
  ...(connections.length === 0
    ? {}
    : { stoppedConnections: [...new Set(connections.map(({ connectionId }) => connectionId))] }),
  ...(keptTokens.length === 0 ? {} : { keptTokens: keptTokens.map(({ id }) => id) })
})

/** A row that joins a member with their account, as selected by `memberColumns`. */
const MemberRow = Schema.Struct({
  ...Member.fields,
  displayName: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  leftAt: Schema.NullOr(Timestamp),
  offeredRole: Schema.NullOr(Role)
})

type MemberRow = typeof MemberRow.Type

const toMember = (row: MemberRow): Member => ({
  ...Struct.omit(row, ["displayName", "email", "leftAt", "offeredRole"]),
  ...(row.offeredRole === null ? {} : { offeredRole: row.offeredRole }),
  ...(row.displayName === null ? {} : { displayName: row.displayName }),
  ...(row.email === null ? {} : { email: row.email })
})

// Hides the address of an automation, which is a placeholder.
const memberColumns = `m.subject, u.kind, u.display_name AS "displayName",
  CASE WHEN u.kind = 'person' THEN u.email END AS email, m.role, m.status, m.left_at AS "leftAt",
  m.offered_role AS "offeredRole", m.created_at AS "createdAt", m.updated_at AS "updatedAt"`

/** The Workspace, and the person who makes the change. */
export interface MemberScope {
  readonly workspaceId: WorkspaceId
  /** `operator` is the person who uses the machine's command line and has the rights of an owner. */
  readonly acting: { readonly subject: string } | "operator"
}

export interface MemberChange {
  readonly role?: Role | undefined
  readonly status?: Member["status"] | undefined
  /** Only for automations, because people set their own names. */
  readonly displayName?: string | undefined
}

export interface HandOver {
  readonly owner: Member
  readonly previousOwner: Member
}

/**
 * The members of a Workspace. The transaction of a change reads the role of the acting person again, so a person who has been
 * removed in the meantime cannot change anything. People become members only by accepting an invitation.
 */
export class Members extends Context.Service<
  Members,
  {
    /** Returns members, and people invited by address or subject, oldest first. */
    readonly list: (
      workspaceId: WorkspaceId,
      subject: string,
      page: PageRequest
    ) => Effect.Effect<Page<Member>, ApiError>
    /**
     * Fails with `permission_denied` if the rules require an owner. Fails with `failed_precondition` if the person is the
     * last owner, has left, or has not accepted yet.
     */
    readonly update: (
      context: CommandContext,
      scope: MemberScope,
      subject: string,
      change: MemberChange
    ) => Effect.Effect<Member, ApiError>
    /**
     * Suspends the membership; access ends with the commit. If the person has not accepted yet, withdraws the invitation. If
     * the member is an automation, revokes its tokens. Every member may leave, except the last owner
     * (`failed_precondition`).
     */
    readonly remove: (context: CommandContext, scope: MemberScope, subject: string) => Effect.Effect<void, ApiError>
    /**
     * Returns everything that would stop if the member were removed. For other members, requires the admin role
     * (`permission_denied`).
     */
    readonly departure: (scope: MemberScope, subject: string) => Effect.Effect<Departure, ApiError>
    /** Makes another active member an owner and the acting owner an admin, in one transaction. */
    readonly handOver: (
      context: CommandContext,
      scope: { readonly workspaceId: WorkspaceId; readonly acting: { readonly subject: string } },
      to: string
    ) => Effect.Effect<HandOver, ApiError>
  }
>()("svc/actors/access/member/Members") {
  static readonly layer = Layer.effect(
    Members,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  const audit = yield* Audit
  const cursors = yield* Cursors

  const findMember = SqlSchema.findAll({
    Request: Schema.Struct({ workspaceId: WorkspaceId, subject: Schema.String }),
    Result: MemberRow,
    execute: ({ workspaceId, subject }) =>
      sql`SELECT ${sql.literal(memberColumns)} FROM memberships m JOIN users u ON u.subject = m.subject
        WHERE m.workspace_id = ${workspaceId} AND m.subject = ${subject}`
  })

  const findRow = Effect.fnUntraced(function* (workspaceId: WorkspaceId, subject: string) {
    const [row] = yield* Effect.orDie(findMember({ workspaceId, subject }))
    return row
  })

  const readRow = Effect.fnUntraced(function* (workspaceId: WorkspaceId, subject: string) {
    return (yield* findRow(workspaceId, subject)) ?? (yield* notFound("Member"))
  })

  /** Fails if the member is the last owner. Suspended owners, and owners whose account is locked, do not count. */
  const refuseLastOwner = Effect.fnUntraced(function* (workspaceId: WorkspaceId, subject: string) {
    const others = yield* sql`SELECT m.subject FROM memberships m JOIN users u ON u.subject = m.subject
      WHERE m.workspace_id = ${workspaceId} AND m.subject <> ${subject}
        AND m.role = 'owner' AND m.status = 'active' AND u.status = 'active' LIMIT 1`
    if (others.length === 0) {
      return yield* failedPrecondition(
        "The last owner cannot leave, or be removed, suspended or lowered. Make another member owner first."
      )
    }
  })

  const note = (
    context: CommandContext,
    scope: MemberScope,
    action: string,
    subject: string,
    data: MemberChange,
    stopped: AuditData = {}
  ) =>
    audit.append({
      workspaceId: scope.workspaceId,
      actor: context.actor,
      action,
      target: { kind: "member", id: subject },
      data: {
        ...(data.role === undefined ? {} : { role: data.role }),
        ...(data.status === undefined ? {} : { status: data.status }),
        ...(data.displayName === undefined ? {} : { name: data.displayName }),
        ...stopped
      },
      requestId: context.requestId
    })

  const ofDatabase = Effect.provideService(SqlClient.SqlClient, sql)
  const heldBy = (scope: MemberScope) => ofDatabase(roleHeld(scope.workspaceId, scope.acting))

  const managingRole = Effect.fnUntraced(function* (scope: MemberScope) {
    const held = yield* heldBy(scope)
    return held !== undefined && roleAtLeast(held, "admin")
      ? held
      : yield* permissionDenied("Owners and admins manage members; ask one of them.")
  })

  /**
   * Returns true if a person acts on their own membership. Automations cannot leave, because they could not be invited back.
   */
  const isOwn = ({ acting }: MemberScope, { kind, subject }: MemberRow) =>
    acting !== "operator" && acting.subject === subject && kind === "person"

  /** Checks the rules that apply to this member, in addition to the right to manage members. */
  const authorize = Effect.fnUntraced(function* (scope: MemberScope, present: MemberRow, wanted: MemberChange) {
    const leaves = isOwn(scope, present) && wanted.role === undefined && wanted.status === "suspended"
    if (leaves) return
    const actor = yield* managingRole(scope)
    if (wanted.role !== undefined && wanted.role !== present.role && actor !== "owner") {
      return yield* permissionDenied("Only owners change roles.")
    }
    if (present.role === "owner" && actor !== "owner") {
      return yield* permissionDenied("Only owners change the membership of an owner.")
    }
  })

  const write = Effect.fnUntraced(function* (
    scope: MemberScope,
    subject: string,
    change: { readonly role: Role; readonly status: Member["status"]; readonly left_at: string | null }
  ) {
    yield* sql`UPDATE memberships SET ${MembershipRow.changes(sql, {
      ...change,
      offered_role: null,
      updated_at: yield* now
    })}
      WHERE workspace_id = ${scope.workspaceId} AND subject = ${subject}`
    yield* markReportsOfWorkspace(sql, scope.workspaceId)
    return toMember(yield* readRow(scope.workspaceId, subject))
  })

  const change = Effect.fnUntraced(function* (
    context: CommandContext,
    scope: MemberScope,
    present: MemberRow,
    wanted: MemberChange,
    action: string
  ) {
    yield* authorize(scope, present, wanted)
    const refusal = kindRefusal(present.kind, wanted)
    if (refusal !== undefined) return yield* refusal
    const { subject } = present
    const displayName = wanted.displayName === present.displayName ? undefined : wanted.displayName
    if (displayName !== undefined) yield* ofDatabase(renameAutomation(subject, displayName))
    const role = wanted.role ?? present.role
    const status = wanted.status ?? present.status
    // The Workspace may end a restored membership, but only the operator may confirm it.
    if (present.status === "unconfirmed" && status !== "suspended") return yield* unconfirmedMember()
    if (present.leftAt !== null && status === "active") {
      return yield* failedPrecondition("The person left this Workspace. Invite them, and they decide.")
    }
    const wasOwning = present.role === "owner" && present.status === "active"
    const staysOwning = role === "owner" && status === "active"
    if (wasOwning && !staysOwning) yield* refuseLastOwner(scope.workspaceId, subject)
    // Setting the same role again dismisses the role that a link offered, so only an owner may set it.
    const dismisses = wanted.role !== undefined && present.offeredRole !== null
    if (dismisses && (yield* managingRole(scope)) !== "owner")
      return yield* permissionDenied("Only owners change roles.")
    if (role === present.role && status === present.status && displayName === undefined && !dismisses)
      return toMember(present)
    const leaves = isOwn(scope, present) && status === "suspended"
    const goes = present.status === "active" && status !== "active"
    const stopped = goes ? departureData(yield* ofDatabase(departureOf(scope.workspaceId, subject))) : {}
    const changed = yield* write(scope, subject, { role, status, left_at: leaves ? yield* now : present.leftAt })
    yield* note(context, scope, leaves ? "member.leave" : action, subject, { role, status, displayName }, stopped)
    return changed
  })

  /** Withdraws the pending invitation that the list of members shows under this subject. */
  const withdraw = Effect.fnUntraced(function* (context: CommandContext, scope: MemberScope, standIn: string) {
    const at = yield* now
    const [row] = yield* InvitationRow.rows(sql)`UPDATE invitations
      SET ${InvitationRow.changes(sql, { status: "revoked", ended_at: at })}
      WHERE workspace_id = ${scope.workspaceId} AND stand_in = ${standIn} AND status = 'pending' AND expires_at > ${at}
      RETURNING *`
    if (row === undefined) return false
    yield* managingRole(scope)
    yield* audit.append({
      workspaceId: scope.workspaceId,
      actor: context.actor,
      action: "invitation.revoke",
      target: { kind: "invitation", id: row.id },
      requestId: context.requestId
    })
    return true
  })

  const isInvited = Effect.fnUntraced(function* (scope: MemberScope, standIn: string) {
    const found = yield* sql`SELECT 1 AS one FROM invitations WHERE workspace_id = ${scope.workspaceId}
      AND stand_in = ${standIn} AND status = 'pending' AND expires_at > ${yield* now}`
    return found.length > 0
  })

  return Members.of({
    update: Effect.fn("Members.update")(function* (context, scope, subject, wanted) {
      if (wanted.role === undefined && wanted.status === undefined && wanted.displayName === undefined) {
        return yield* invalidRequest("Give role, status or displayName.")
      }
      if (wanted.status === "invited" || wanted.status === "unconfirmed")
        return yield* invalidRequest("status: give active or suspended.")
      const present = yield* findRow(scope.workspaceId, subject)
      if (present !== undefined) return yield* change(context, scope, present, wanted, "member.update")
      yield* managingRole(scope)
      if (!(yield* isInvited(scope, subject))) return yield* notFound("Member")
      return yield* failedPrecondition(
        "The person has not accepted the invitation yet. Withdraw it and invite them again."
      )
    }, transaction(sql)),
    remove: Effect.fn("Members.remove")(function* (context, scope, subject) {
      if (yield* withdraw(context, scope, subject)) return
      const present = yield* readRow(scope.workspaceId, subject)
      yield* change(context, scope, present, { status: "suspended" }, "member.remove")
      if (present.kind === "automation") yield* ofDatabase(endAutomationTokens(subject))
    }, transaction(sql)),
    departure: Effect.fn("Members.departure")(function* (scope, subject) {
      if (scope.acting === "operator" || scope.acting.subject !== subject) yield* managingRole(scope)
      const present = yield* readRow(scope.workspaceId, subject)
      return yield* ofDatabase(departureOf(scope.workspaceId, present.subject))
    }, transaction(sql)),
    handOver: Effect.fn("Members.handOver")(function* (context, scope, to) {
      const { acting, workspaceId } = scope
      if ((yield* heldBy(scope)) !== "owner") return yield* permissionDenied("Only an owner hands over the Workspace.")
      yield* ofDatabase(refuseArchived(workspaceId))
      if (to === acting.subject) return yield* invalidRequest("subject: name another member.")
      const heir = yield* ofDatabase(roleHeld(workspaceId, { subject: to }))
      if (heir === undefined) return yield* failedPrecondition("subject: only an active member can become the owner.")
      const refusal = kindRefusal((yield* readRow(workspaceId, to)).kind, { role: "owner" })
      if (refusal !== undefined) return yield* refusal
      const owner = yield* write(scope, to, { role: "owner", status: "active", left_at: null })
      const previousOwner = yield* write(scope, acting.subject, { role: "admin", status: "active", left_at: null })
      yield* note(context, scope, "member.hand_over", to, { role: "owner" })
      return { owner, previousOwner }
    }, transaction(sql)),
    list: Effect.fn("Members.list")(function* (workspaceId, subject, page) {
      const binding: CursorBinding = { route: "workspaces.members", subject, filter: [workspaceId] }
      const [at, id] = page.cursor === undefined ? [] : yield* cursors.decode(binding, page.cursor, 2)
      const after = at === undefined || id === undefined ? read`1 = 1` : read`("createdAt", subject) > (${at}, ${id})`
      const present = yield* now
      // If a former member has been invited again, lists the person only once, as invited.
      const rows = yield* SqlSchema.findAll({
        Request: Schema.Void,
        Result: MemberRow,
        execute: () => read`SELECT * FROM (
            SELECT ${read.literal(memberColumns)} FROM memberships m JOIN users u ON u.subject = m.subject
            WHERE m.workspace_id = ${workspaceId} AND (m.status <> 'suspended' OR NOT EXISTS (SELECT 1 FROM invitations i
              WHERE i.workspace_id = m.workspace_id AND i.stand_in = m.subject
                AND i.status = 'pending' AND i.expires_at > ${present}))
            UNION ALL SELECT stand_in, 'person', NULL, email, role, 'invited', NULL, NULL, created_at, created_at FROM invitations
            WHERE workspace_id = ${workspaceId} AND status = 'pending' AND expires_at > ${present}
              AND (email IS NOT NULL OR subject IS NOT NULL)
          ) AS people WHERE ${after} ORDER BY "createdAt", subject LIMIT ${page.limit + 1}`
      })(undefined).pipe(Effect.orDie)
      const items = rows.slice(0, page.limit).map(toMember)
      const last = items.at(-1)
      if (rows.length <= page.limit || last === undefined) return { items }
      return { items, nextCursor: yield* cursors.encode(binding, [last.createdAt, last.subject]) }
    })
  })
})
