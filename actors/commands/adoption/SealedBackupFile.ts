import { Effect, Option, Redacted, Schema } from "effect"
import { readDocument } from "../../../runner/document/Documents.ts"
import { documentLimits } from "../../../runner/document/DocumentReadings.ts"
import { withSerial } from "../../../runner/execution/StateSerial.ts"
import { SealedBackup } from "../../../schema/api/SealedBackup.ts"
import { ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { ImportedFrom } from "../../../schema/records/ImportedFrom.ts"
import { generatedPlace } from "../../inputs/delivery/GeneratedSecrets.ts"
import {
  archiveContents,
  archiveDocument,
  type CapsuleInBackup,
  capsulesInDocument
} from "../../ledger/state/BackupArchive.ts"
import { backupPlace, digestOf } from "../../ledger/state/BackupStore.ts"
import type { ImportedSecrets } from "../../ledger/state/ImportedSecrets.ts"
import { secretsPlace, statePlace } from "../../ledger/state/StateVersions.ts"
import { secretsOfText, toStoredSecrets } from "../../base/vault/SealedSecrets.ts"
import type { SealContext } from "../../base/vault/Sealing.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { addressList } from "./AddressList.ts"

/** The decrypted Capsule of a backup that is being imported. */
export interface OpenedBackup {
  readonly state: Redacted.Redacted<Uint8Array>
  readonly from: ImportedFrom
  readonly secrets: ImportedSecrets
}

const formats = { file: "svc.sealed-backup/v1", archive: "svc.backup/v1" }

/** Limits for a sealed backup, which consists of a few long strings. */
const fileLimits = { ...documentLimits, maxDepth: 32, maxNodes: 100_000 }

const namedAtMost = 20

const unreadable = (because: string) =>
  new ApiError({
    code: "backup_unreadable",
    message: `${because} Upload the file as GET /api/v1/backups/{backupId}/archive answered it.`
  })
const damaged = () => unreadable("The backup is damaged or was changed.")

const otherFormat = (format: string) =>
  new ApiError({
    code: "backup_format_unknown",
    message: `The format of the backup is ${format.slice(0, 100)}; this release reads ${formats.file} with ${formats.archive} in it. Import it with the release that the other installation runs.`
  })

const decodeFormat = Schema.decodeUnknownOption(Schema.Struct({ format: Schema.String }))
const decodeFile = Schema.decodeUnknownOption(SealedBackup)

/** Returns the format that a document declares, or `undefined` if it declares none. */
const formatOf = (document: unknown) => Option.getOrUndefined(decodeFormat(document))?.format

const sealedBackup = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const document = Option.getOrUndefined(yield* Effect.option(readDocument("json", bytes, fileLimits)))
  const format = formatOf(document)
  if (format === undefined) return yield* unreadable("This is no sealed backup.")
  if (format !== formats.file) return yield* otherFormat(format)
  return yield* Effect.mapError(Effect.fromOption(decodeFile(document)), damaged)
})

/** Returns the Capsules in the archive. Fails unless the archive matches the digest and format in its record. */
const capsulesOf = Effect.fnUntraced(function* (archive: Uint8Array, digest: string) {
  if (digestOf(archive) !== digest) return yield* damaged()
  const contents = yield* Effect.flatMap(archiveContents(archive), (found) =>
    Effect.mapError(Effect.fromOption(found), damaged)
  )
  const document = yield* archiveDocument(contents)
  const capsules = yield* capsulesInDocument(document)
  if (Option.isSome(capsules)) return capsules.value
  const format = formatOf(Option.getOrUndefined(document))
  return format === undefined || format === formats.archive
    ? yield* unreadable("This release cannot read the records of the backup.")
    : yield* otherFormat(format)
})

const chosen = Effect.fnUntraced(function* (capsules: ReadonlyArray<CapsuleInBackup>, asked: CapsuleId | undefined) {
  const [only, ...others] = capsules
  const found = asked === undefined && others.length === 0 ? only : capsules.find(({ capsule }) => capsule.id === asked)
  if (found !== undefined) return found
  const names = addressList(
    capsules.map(({ capsule }) => `${capsule.name} (${capsule.id})`),
    namedAtMost
  )
  return yield* invalidRequest(`capsuleId: name a Capsule of the backup. It holds ${names === "" ? "none" : names}.`)
})

/**
 * Decrypts another installation's backup with this installation's master keys. Returns only data that was sealed by an
 * installation with one of these keys; the readable part of the file is not trusted.
 */
export const openSealedBackup = Effect.fn("openSealedBackup")(function* (
  bytes: Uint8Array,
  asked: CapsuleId | undefined
): Effect.fn.Return<OpenedBackup, ApiError, Vault> {
  const vault = yield* Vault
  const { archive: sealed, backup, dataKeys } = yield* sealedBackup(bytes)
  const openForeign = yield* vault.foreign(dataKeys).pipe(
    Effect.mapError(
      ({ keyIds }) =>
        new ApiError({
          code: "backup_key_missing",
          message: `The backup is sealed with the master keys ${keyIds.join(", ")}, which this installation does not have. Add them to its master key setting as keys that only open, restart it, and upload the backup again.`
        })
    )
  )
  const open = (place: SealContext, envelope: string) => Effect.mapError(openForeign(place, envelope), damaged)
  const openText = (place: SealContext, envelope: string) =>
    Effect.map(open(place, envelope), (value) => Redacted.make(new TextDecoder().decode(Redacted.value(value))))

  const archive = Redacted.value(yield* open(backupPlace(backup.workspaceId, backup.id), sealed))
  const { capsule, generated, version } = yield* chosen(yield* capsulesOf(archive, backup.digest), asked)
  if (version === undefined)
    return yield* failedPrecondition(
      `The Capsule ${capsule.name} had no state when the backup was made, so there is nothing to import. Install it as a new Capsule.`
    )
  const original = Redacted.value(yield* open(statePlace(version), version.state))
  // Raises the serial, because both installations have the state in the backup. The imported state is then newer than both
  // copies.
  const state = Option.getOrElse(withSerial(original, version.serial + 1), () => original)
  const secrets =
    version.sealed_secrets === null
      ? []
      : yield* openText(secretsPlace(version), version.sealed_secrets).pipe(
          Effect.flatMap(secretsOfText),
          Effect.mapError(damaged)
        )
  return {
    state: Redacted.make(state),
    from: ImportedFrom.make({
      backupId: backup.id,
      workspaceId: version.workspace_id,
      capsuleId: capsule.id,
      name: capsule.name,
      stateVersionId: version.id,
      stateCreatedAt: version.created_at,
      generation: version.generation,
      serial: version.serial
    }),
    secrets: {
      secrets: toStoredSecrets(secrets),
      generated: yield* Effect.forEach(
        generated,
        ({ bytes: length, encoding, id, sealed_value, target, workspace_id }) =>
          Effect.map(openText(generatedPlace(workspace_id, id), sealed_value), (text) => ({
            target,
            bytes: length,
            encoding,
            text: Redacted.value(text)
          }))
      )
    }
  }
})
