import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { WorkspaceDriftChecks } from "../../../schema/records/DriftChecks.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import type { Workspace } from "../../../schema/records/Workspace.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import type { PageRequest } from "../../base/paging/RowPages.ts"
import { refuseArchived } from "./Projects.ts"
import { createWorkspace, findPersonal, isWhole, repairPersonal } from "./WorkspaceCreation.ts"
import {
  inventoryWorkspaces,
  listWorkspaces,
  readMemberWorkspace,
  type WorkspaceList,
  type WorkspaceListRequest
} from "./WorkspaceList.ts"
import { StoredWorkspace } from "./StoredWorkspace.ts"
import { providedService } from "../../base/Provided.ts"

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
