import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { RestorePlanRequest } from "../../../schema/api/BackupsApi.ts"
import { SealedBackup } from "../../../schema/api/SealedBackup.ts"
import { type ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import type { BackupId, CapsuleId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { CommandContext, IdempotentRequest, Replayable } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import {
  archiveContents,
  archiveDocument,
  type CapsuleInBackup,
  capsulesInDocument
} from "../../ledger/state/BackupArchive.ts"
import { BackupStore, toBackup } from "../../ledger/state/BackupStore.ts"
import { Vault } from "../../base/vault/Vault.ts"

interface ReadBackup {
  readonly workspaceId: WorkspaceId
  readonly id: BackupId
  readonly capsules: ReadonlyArray<CapsuleInBackup>
  readonly text: string
}

/** Operations on a Workspace's backups, for owners. */
export class CapsuleBackups extends Context.Service<
  CapsuleBackups,
  {
    /** Returns the backup as a sealed file. The download is recorded before the response is sent. */
    readonly archive: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      id: BackupId
    ) => Effect.Effect<SealedBackup, ApiError>
    /** Creates the Run whose plan people review before a Capsule is restored. */
    readonly restorePlan: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      id: BackupId,
      request: RestorePlanRequest,
      idempotency: IdempotentRequest | undefined
    ) => Effect.Effect<Replayable<Run>, ApiError>
  }
>()("svc/actors/commands/capsule/CapsuleBackups") {
  static readonly layer = Layer.effect(
    CapsuleBackups,
    Effect.gen(function* () {
      const command = yield* CapsuleCommands
      const sql = yield* SqlClient.SqlClient
      const backups = yield* BackupStore
      const vault = yield* Vault
      const audit = yield* Audit

      const found = Effect.fnUntraced(function* (workspaceId: WorkspaceId, id: BackupId) {
        const backup = yield* backups.find(id)
        return backup === undefined || backup.workspace_id !== workspaceId ? yield* notFound("Backup") : backup
      })

      const unreadable = failedPrecondition("This release cannot read the records of the backup.")

      /** Unpacks the archive of a backup into its parts. Unpacking is slow, so do not call this in a transaction. */
      const contentsOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId, id: BackupId) {
        yield* found(workspaceId, id)
        const contents = yield* archiveContents(yield* backups.open(id))
        if (Option.isNone(contents)) return yield* unreadable
        const document = yield* archiveDocument(contents.value)
        const capsules = yield* capsulesInDocument(document)
        if (Option.isNone(capsules)) return yield* unreadable
        return { text: new TextDecoder().decode(contents.value), capsules: capsules.value }
      })

      // Backups never change, so data read before the transaction is still valid.
      const recorded = Effect.fnUntraced(function* (
        context: CommandContext,
        { capsules, id, text, workspaceId }: ReadBackup
      ) {
        const backup = yield* found(workspaceId, id)
        const sealed = yield* backups.sealed(id)
        const dataKeys = yield* vault.wrappedKeys(workspaceId, `${sealed} ${text}`)
        yield* audit.append({
          workspaceId,
          actor: context.actor,
          action: "backup.download",
          target: { kind: "backup", id },
          capsuleId: backup.capsule_id ?? undefined,
          data: { digest: backup.digest },
          requestId: context.requestId
        })
        return SealedBackup.make({
          format: "svc.sealed-backup/v1",
          masterKeyIds: [...new Set(dataKeys.map(({ masterKeyId }) => masterKeyId))].toSorted(),
          backup: toBackup(backup),
          capsules: capsules.map(({ capsule }) => ({
            capsuleId: capsule.id,
            name: capsule.name,
            generation: capsule.current_state_generation,
            ...(capsule.current_state_version_id === null ? {} : { stateVersionId: capsule.current_state_version_id })
          })),
          dataKeys,
          archive: sealed
        })
      })

      const archive = Effect.fn("CapsuleBackups.archive")(function* (
        context: CommandContext,
        workspaceId: WorkspaceId,
        id: BackupId
      ) {
        const { capsules, text } = yield* contentsOf(workspaceId, id)
        return yield* recorded(context, { workspaceId, id, capsules, text }).pipe(transaction(sql))
      })

      const capsuleOf = Effect.fnUntraced(function* (
        workspaceId: WorkspaceId,
        ofBackup: CapsuleId | null,
        asked: CapsuleId | undefined
      ) {
        if (ofBackup !== null && asked !== undefined && asked !== ofBackup)
          return yield* invalidRequest("capsuleId: the backup is of another Capsule.")
        const id = ofBackup ?? asked
        if (id === undefined)
          return yield* invalidRequest("capsuleId: say which Capsule of the Workspace is to be restored.")
        const [capsule] = yield* Effect.orDie(
          CapsuleRow.some(sql, "id")`SELECT id FROM capsules WHERE id = ${id} AND workspace_id = ${workspaceId}`
        )
        return capsule === undefined ? yield* notFound("Capsule") : id
      })

      const restorePlan = Effect.fn("CapsuleBackups.restorePlan")(function* (
        context: CommandContext,
        workspaceId: WorkspaceId,
        id: BackupId,
        { capsuleId }: RestorePlanRequest,
        idempotency: IdempotentRequest | undefined
      ) {
        const backup = yield* found(workspaceId, id)
        const restored = yield* capsuleOf(workspaceId, backup.capsule_id, capsuleId)
        return yield* command.RestorePlan(restored, {
          context,
          backupId: id,
          ...(idempotency === undefined ? {} : { idempotency })
        })
      })

      return CapsuleBackups.of({ archive, restorePlan })
    })
  )
}
