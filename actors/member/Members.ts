import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../schema/errors/ApiError.ts"
import { MembershipId, WorkspaceId } from "../../schema/records/Ids.ts"
import { Member, type Role, roleAtLeast } from "../../schema/records/Workspace.ts"
import { Users } from "../account/Users.ts"
import { Audit } from "../audit/Audit.ts"
import type { CommandContext } from "../Command.ts"
import { ReadSql } from "../database/ReadSql.ts"
import { transaction } from "../database/Transaction.ts"
import { newId, now } from "../Identity.ts"
import { type CursorBinding, Cursors } from "../paging/Cursors.ts"
import type { Page, PageRequest } from "../paging/Page.ts"
import { refuseArchived } from "../workspace/ArchivedWorkspace.ts"
import { MembershipRow } from "../workspace/MembershipRow.ts"

/** The Workspace, and who acts on it. */
export interface MemberScope {
  readonly workspaceId: WorkspaceId
  /** `operator` acts from the machine's command line, with the authority of an owner. */
  readonly acting: { readonly subject: string } | "operator"
}

export interface NewMember {
  /** Exactly one of `subject` and `email`. */
  readonly subject?: string | undefined
  readonly email?: string | undefined
  readonly role?: Role | undefined
}

export interface MemberChange {
  readonly role?: Role | undefined
  readonly status?: Member["status"] | undefined
}

const Row = Schema.Struct({
  ...Member.fields,
  displayName: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String)
})

const toMember = ({ displayName, email, ...rest }: typeof Row.Type): Member => ({
  ...rest,
  ...(displayName === null ? {} : { displayName }),
  ...(email === null ? {} : { email })
})

const columns = `m.subject, u.display_name AS "displayName", u.email, m.role, m.status,
  m.created_at AS "createdAt", m.updated_at AS "updatedAt"`

const unconfirmed = () =>
  failedPrecondition(
    "A restore brought this membership back, and the operator has to confirm it with `svc admin restore-review`. It can be removed."
  )

const denied = (message: string) => new ApiError({ code: "permission_denied", message })

/**
 * Who belongs to a Workspace. The actor's role is read again in the transaction of the change, so that a request by somebody
 * who was removed meanwhile changes nothing.
 */
export class Members extends Context.Service<
  Members,
  {
    readonly list: (
      workspaceId: WorkspaceId,
      subject: string,
      page: PageRequest
    ) => Effect.Effect<Page<Member>, ApiError>
    /**
     * Adds a person who has an account; a suspended member comes back. Fails with `not_found` for an unknown person,
     * `failed_precondition` for a present member, `permission_denied` when an admin adds an owner.
     */
    readonly add: (context: CommandContext, scope: MemberScope, member: NewMember) => Effect.Effect<Member, ApiError>
    /** Fails with `permission_denied` unless owner, where the rules say so, and `failed_precondition` for the last owner. */
    readonly update: (
      context: CommandContext,
      scope: MemberScope,
      subject: string,
      change: MemberChange
    ) => Effect.Effect<Member, ApiError>
    /** Suspends the membership: access ends with the commit. The last owner stays (`failed_precondition`). */
    readonly remove: (context: CommandContext, scope: MemberScope, subject: string) => Effect.Effect<void, ApiError>
  }
>()("svc/workspace/Members") {
  static readonly layer = Layer.effect(
    Members,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  const audit = yield* Audit
  const users = yield* Users
  const cursors = yield* Cursors
  const random = yield* SecureRandom.SecureRandom

  const findMember = SqlSchema.findAll({
    Request: Schema.Struct({ workspaceId: WorkspaceId, subject: Schema.String }),
    Result: Row,
    execute: ({ workspaceId, subject }) =>
      sql`SELECT ${sql.literal(columns)} FROM memberships m JOIN users u ON u.subject = m.subject
        WHERE m.workspace_id = ${workspaceId} AND m.subject = ${subject}`
  })

  const readMember = Effect.fnUntraced(function* (workspaceId: WorkspaceId, subject: string) {
    const [row] = yield* Effect.orDie(findMember({ workspaceId, subject }))
    return row === undefined ? yield* notFound("Member") : toMember(row)
  })

  /** An owner who cannot act does not count: suspended members and locked accounts. */
  const refuseLastOwner = Effect.fnUntraced(function* (workspaceId: WorkspaceId, subject: string) {
    const others = yield* sql`SELECT m.subject FROM memberships m JOIN users u ON u.subject = m.subject
      WHERE m.workspace_id = ${workspaceId} AND m.subject <> ${subject}
        AND m.role = 'owner' AND m.status = 'active' AND u.status = 'active' LIMIT 1`
    if (others.length === 0) {
      return yield* failedPrecondition(
        "The last owner cannot be removed, suspended or lowered. Make another member owner first."
      )
    }
  })

  const note = (
    context: CommandContext,
    workspaceId: WorkspaceId,
    action: string,
    subject: string,
    data: MemberChange
  ) =>
    audit.append({
      workspaceId,
      actor: context.actor,
      action,
      target: { kind: "member", id: subject },
      data: {
        ...(data.role === undefined ? {} : { role: data.role }),
        ...(data.status === undefined ? {} : { status: data.status })
      },
      requestId: context.requestId
    })

  const actingRole = Effect.fnUntraced(function* ({ acting, workspaceId }: MemberScope) {
    if (acting === "operator") return "owner"
    const [member] = yield* Effect.orDie(findMember({ workspaceId, subject: acting.subject }))
    const role = member?.status === "active" ? member.role : "viewer"
    return roleAtLeast(role, "admin") ? role : yield* denied("Owners and admins manage members; ask one of them.")
  })

  const findPerson = Effect.fnUntraced(function* (member: NewMember) {
    if ((member.subject === undefined) === (member.email === undefined)) {
      return yield* invalidRequest("Name exactly one of subject and email.")
    }
    const person = yield* member.subject === undefined
      ? users.findByEmail(member.email ?? "")
      : users.find(member.subject)
    return Option.isSome(person) && person.value.status === "active" ? person.value : yield* notFound("Account")
  })

  const add = Effect.fn("Members.add")(function* (context: CommandContext, scope: MemberScope, member: NewMember) {
    const { workspaceId } = scope
    const actor = yield* actingRole(scope)
    const role = member.role ?? "member"
    if (role === "owner" && actor !== "owner") return yield* denied("Only owners add owners.")
    yield* refuseArchived(workspaceId).pipe(Effect.provideService(SqlClient.SqlClient, sql))
    const { subject } = yield* findPerson(member)
    const at = yield* now
    const [present] = yield* Effect.orDie(findMember({ workspaceId, subject }))
    if (present?.status === "unconfirmed") return yield* unconfirmed()
    if (present !== undefined && present.status !== "suspended") {
      return yield* failedPrecondition("The person is a member of this Workspace already.")
    }
    yield* sql`INSERT INTO memberships ${MembershipRow.values(sql, {
      id: yield* newId(MembershipId, "mbr").pipe(Effect.provideService(SecureRandom.SecureRandom, random)),
      workspace_id: workspaceId,
      subject,
      role,
      status: "active",
      created_at: at,
      updated_at: at
    })} ON CONFLICT (workspace_id, subject)
      DO UPDATE SET role = excluded.role, status = excluded.status, updated_at = excluded.updated_at`
    yield* note(context, workspaceId, "member.add", subject, { role })
    return yield* readMember(workspaceId, subject)
  }, transaction(sql))

  const change = Effect.fnUntraced(function* (
    context: CommandContext,
    scope: MemberScope,
    subject: string,
    wanted: MemberChange,
    action: string
  ) {
    const { workspaceId } = scope
    const actor = yield* actingRole(scope)
    const present = yield* readMember(workspaceId, subject)
    const role = wanted.role ?? present.role
    const status = wanted.status ?? present.status
    // The Workspace may end what a restore brought back; only the operator may confirm it.
    if (present.status === "unconfirmed" && status !== "suspended") return yield* unconfirmed()
    if (role !== present.role && actor !== "owner") return yield* denied("Only owners change roles.")
    if (present.role === "owner" && actor !== "owner") {
      return yield* denied("Only owners change the membership of an owner.")
    }
    const wasOwning = present.role === "owner" && present.status === "active"
    const staysOwning = role === "owner" && status === "active"
    if (wasOwning && !staysOwning) yield* refuseLastOwner(workspaceId, subject)
    if (role === present.role && status === present.status) return present
    yield* sql`UPDATE memberships SET role = ${role}, status = ${status}, updated_at = ${yield* now}
      WHERE workspace_id = ${workspaceId} AND subject = ${subject}`
    yield* note(context, workspaceId, action, subject, { role, status })
    return yield* readMember(workspaceId, subject)
  })

  return Members.of({
    add,
    update: Effect.fn("Members.update")(function* (context, scope, subject, wanted) {
      if (wanted.role === undefined && wanted.status === undefined) {
        return yield* invalidRequest("Give role or status.")
      }
      if (wanted.status === "invited" || wanted.status === "unconfirmed")
        return yield* invalidRequest("status: give active or suspended.")
      return yield* change(context, scope, subject, wanted, "member.update")
    }, transaction(sql)),
    remove: Effect.fn("Members.remove")(function* (context, scope, subject) {
      yield* change(context, scope, subject, { status: "suspended" }, "member.remove")
    }, transaction(sql)),
    list: Effect.fn("Members.list")(function* (workspaceId, subject, page) {
      const binding: CursorBinding = { route: "workspaces.members", subject, filter: [workspaceId] }
      const [at, id] = page.cursor === undefined ? [] : yield* cursors.decode(binding, page.cursor, 2)
      const after =
        at === undefined || id === undefined ? read`1 = 1` : read`(m.created_at, m.subject) > (${at}, ${id})`
      const rows = yield* SqlSchema.findAll({
        Request: Schema.Void,
        Result: Row,
        execute: () => read`SELECT ${read.literal(columns)} FROM memberships m JOIN users u ON u.subject = m.subject
          WHERE m.workspace_id = ${workspaceId} AND ${after}
          ORDER BY m.created_at, m.subject LIMIT ${page.limit + 1}`
      })(undefined).pipe(Effect.orDie)
      const items = rows.slice(0, page.limit).map(toMember)
      const last = items.at(-1)
      if (rows.length <= page.limit || last === undefined) return { items }
      return { items, nextCursor: yield* cursors.encode(binding, [last.createdAt, last.subject]) }
    })
  })
})
