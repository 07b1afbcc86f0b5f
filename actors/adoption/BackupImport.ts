import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { withSerial } from "../../runner/execution/StateSerial.ts"
import { SealedBackup } from "../../schema/api/SealedBackup.ts"
import { ApiError, invalidRequest, notFound } from "../../schema/errors/ApiError.ts"
import type { CapsuleId, WorkspaceId } from "../../schema/records/Ids.ts"
import type { StateUpload } from "../../schema/records/StateUpload.ts"
import type { CommandContext, IdempotentRequest, Replayable } from "../Command.ts"
import { type CapsuleInBackup, capsulesInArchive } from "../state/BackupArchive.ts"
import { archivePlace } from "../state/BackupStore.ts"
import { statePlace } from "../state/StateVersions.ts"
import { Vault } from "../vault/Vault.ts"
import { StateReceipt } from "./StateReceipt.ts"

const unreadable = (why: string) =>
  new ApiError({
    code: "backup_unreadable",
    message: `${why} Upload the file that the other installation answered to GET /api/v1/backups/{backupId}/archive.`
  })

const noBackup = unreadable("This is not a backup of a Capsule that this release can read.")
const changed = unreadable("The backup was changed after it was written, or parts of it belong to another one.")

const missingKey = (keyIds: ReadonlyArray<string>) =>
  new ApiError({
    code: "backup_key_missing",
    message: `The backup is sealed with the master key ${keyIds.join(", ")} of the installation that wrote it, which this server was not given. Give it beside the server's own key (docs/moving.md), restart, and upload again.`
  })

const decodeFile = Schema.decodeUnknownOption(Schema.fromJsonString(SealedBackup))

/** Receives backups that another installation wrote. */
export class BackupImport extends Context.Service<
  BackupImport,
  {
    /** Opens the state of one Capsule, and takes it as an upload of this installation: sealed anew, with the checks of any other. */
    readonly receive: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      file: Uint8Array,
      capsuleId: CapsuleId | undefined,
      idempotency: IdempotentRequest
    ) => Effect.Effect<Replayable<StateUpload>, ApiError>
  }
>()("svc/actors/adoption/BackupImport") {
  static readonly layer = Layer.effect(
    BackupImport,
    Effect.gen(function* () {
      const vault = yield* Vault
      const receipt = yield* StateReceipt

      const chosen = (capsules: ReadonlyArray<CapsuleInBackup>, asked: CapsuleId | undefined) => {
        const [only, ...others] = capsules
        if (asked === undefined) {
          return only !== undefined && others.length === 0
            ? Effect.succeed(only)
            : Effect.fail(
                invalidRequest(
                  `capsuleId: the backup holds ${capsules.length} Capsules. Say which one: ${capsules
                    .slice(0, 20)
                    .map(({ capsule }) => `${capsule.id} (${capsule.name})`)
                    .join(", ")}.`
                )
              )
        }
        const found = capsules.find(({ capsule }) => capsule.id === asked)
        return found === undefined ? Effect.fail(notFound("Capsule in the backup")) : Effect.succeed(found)
      }

      /** The state in the clear, and what it was there. */
      const opened = Effect.fnUntraced(function* (file: Uint8Array, asked: CapsuleId | undefined) {
        const { archive, backup, dataKeys, masterKeyIds } =
          Option.getOrUndefined(decodeFile(new TextDecoder().decode(file))) ?? (yield* noBackup)
        const seals = yield* vault.foreign(dataKeys)
        if (seals.missing.length > 0) return yield* missingKey(seals.missing)
        if (masterKeyIds.length === 0) return yield* changed
        const plain = yield* Effect.mapError(
          seals.open(archivePlace(backup.workspaceId, backup.id), archive),
          () => changed
        )
        const capsules = Option.getOrUndefined(capsulesInArchive(Redacted.value(plain))) ?? (yield* noBackup)
        const { capsule, version } = yield* chosen(capsules, asked)
        if (version === undefined) {
          return yield* unreadable("The Capsule had no state when the backup was made, so there is nothing to import.")
        }
        const state = yield* Effect.mapError(seals.open(statePlace(version), version.state), () => changed)
        // Higher than the one that the original may still write, so that neither is taken for the other.
        const next = withSerial(Redacted.value(state), version.serial + 1)
        return {
          // An encrypted state has no serial to raise; the receipt refuses it by name.
          state: Redacted.make(Option.getOrElse(next, () => Redacted.value(state))),
          from: {
            backupId: backup.id,
            backupAt: backup.createdAt,
            workspaceId: backup.workspaceId,
            capsuleId: capsule.id,
            name: capsule.name,
            generation: version.generation
          }
        }
      })

      const receive = Effect.fn("BackupImport.receive")(function* (
        context: CommandContext,
        workspaceId: WorkspaceId,
        file: Uint8Array,
        capsuleId: CapsuleId | undefined,
        idempotency: IdempotentRequest
      ) {
        return yield* receipt.receiveOnce(context, workspaceId, "imports.create", idempotency, opened(file, capsuleId))
      })

      return BackupImport.of({ receive })
    })
  )
}
