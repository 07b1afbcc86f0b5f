import { createHash } from "node:crypto"
import { Context, DateTime, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { InstallPlanId, StateUploadId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { newId, now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { ImportedFrom } from "../../../schema/records/ImportedFrom.ts"
import { type ImportedSecrets, importedSecretsOf, importedSecretsText } from "./ImportedSecrets.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { StateUpload } from "../../../schema/records/StateUpload.ts"
import { jsonText, storedRecord } from "../../base/database/StoredRecord.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

export const ImportedFromJson = jsonText(ImportedFrom)

/** States that people upload for an install to take over. */
export const StateUploadRow = table("state_uploads", {
  id: StateUploadId,
  workspace_id: WorkspaceId,
  sha256: Schema.String,
  size_bytes: Schema.Int,
  lineage: Schema.String,
  serial: Schema.Int,
  resource_count: Schema.Int,
  tool_version: Schema.NullOr(Schema.String),
  /** Sealed; `NULL` once the state has become a StateVersion. */
  state: Schema.NullOr(Schema.String),
  /** The install that has reserved the upload. */
  install_plan_id: Schema.NullOr(InstallPlanId),
  created_by: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Schema.NullOr(Timestamp),
  /** The origin and the sealed secrets of a state from another installation's backup; `NULL` for other states. */
  imported_from: Schema.NullOr(ImportedFromJson),
  sealed_secrets: Schema.NullOr(Schema.String)
})
export type StateUploadRow = RowOf<typeof StateUploadRow.columns>

/** All columns except the sealed ones. */
const ListedStateUpload = StateUploadRow.without("state", "sealed_secrets")
type ListedStateUpload = RowOf<typeof ListedStateUpload.columns>

const decodeUpload = storedRecord(StateUpload)

/** Returns the public projection of an upload. */
export const toStateUpload = (row: ListedStateUpload): StateUpload =>
  decodeUpload({
    id: row.id,
    workspaceId: row.workspace_id,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    lineage: row.lineage,
    serial: row.serial,
    resourceCount: row.resource_count,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(row.tool_version === null ? {} : { toolVersion: row.tool_version }),
    ...(row.imported_from === null ? {} : { importedFrom: ImportedFromJson.parse(row.imported_from) })
  })

/** Fields of an upload to insert. */
export interface NewStateUpload {
  readonly workspaceId: WorkspaceId
  readonly state: Redacted.Redacted<Uint8Array>
  readonly lineage: string
  readonly serial: number
  readonly resourceCount: number
  readonly toolVersion: string | undefined
  readonly createdBy: string | undefined
  /** Set for a state from another installation's backup. */
  readonly imported?: { readonly from: ImportedFrom; readonly secrets: ImportedSecrets } | undefined
}

/** An upload that an install has reserved, with its decrypted state. */
export interface HeldUpload {
  readonly row: StateUploadRow
  readonly state: Redacted.Redacted<Uint8Array>
  readonly secrets: ImportedSecrets | undefined
}

/** Maximum number of pending uploads per Workspace. Each upload contains a complete state. */
const mostWaiting = 10

const place = (row: Pick<StateUploadRow, "id" | "workspace_id">) => ({
  table: "state_uploads",
  column: "state",
  workspaceId: row.workspace_id,
  rowId: row.id
})

const secretsPlace = (row: Parameters<typeof place>[0]) => ({ ...place(row), column: "sealed_secrets" })

const gone = () =>
  failedPrecondition(
    "adopt.uploadId: the Workspace has no such upload that is free. An upload serves one install, and is erased after an hour. Upload the state again."
  )

/** The only writer of `state_uploads`. Every method except `eraseUnused` works in the caller's transaction. */
export class StateUploads extends Context.Service<
  StateUploads,
  {
    /** Seals and stores the state. Fails with `failed_precondition` if too many uploads of the Workspace are pending. */
    readonly insert: (upload: NewStateUpload) => Effect.Effect<StateUploadRow, ApiError>
    readonly find: (id: StateUploadId) => Effect.Effect<StateUploadRow | undefined>
    /** Reserves an upload for one install. */
    readonly claim: (
      workspaceId: WorkspaceId,
      adopt: { readonly uploadId: StateUploadId; readonly sha256: string },
      installPlanId: InstallPlanId
    ) => Effect.Effect<void, ApiError>
    /**
     * Releases the upload of a failed install. Another install can reserve the upload until svc deletes it, an hour after
     * receiving it.
     */
    readonly release: (installPlanId: InstallPlanId) => Effect.Effect<void>
    /** Returns the upload that an install has reserved, but not its state. */
    readonly heldRow: (installPlanId: InstallPlanId) => Effect.Effect<StateUploadRow | undefined>
    /** Returns the upload that an install has reserved, with its state. */
    readonly held: (installPlanId: InstallPlanId) => Effect.Effect<HeldUpload | undefined>
    /** Erases the sealed state after a StateVersion has been created from it. */
    readonly used: (id: StateUploadId) => Effect.Effect<void>
    /** Deletes uploads that no install has used within an hour. */
    readonly eraseUnused: Effect.Effect<void>
  }
>()("svc/actors/ledger/state/StateUploads") {
  static readonly layer = Layer.effect(
    StateUploads,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const insert = Effect.fn("StateUploads.insert")(function* (upload: NewStateUpload) {
        const at = yield* DateTime.now
        const waiting = yield* Effect.orDie(sql`SELECT 1 AS one FROM state_uploads
          WHERE workspace_id = ${upload.workspaceId} AND used_at IS NULL AND expires_at > ${DateTime.formatIso(at)}`)
        if (waiting.length >= mostWaiting) {
          return yield* failedPrecondition(
            `The Workspace has ${waiting.length} uploaded states that no install has taken over. Install with one of them, or wait until they are erased.`
          )
        }
        const bytes = Redacted.value(upload.state)
        const id = yield* newId(StateUploadId, "sup").pipe(withRandom)
        const row: StateUploadRow = {
          id,
          workspace_id: upload.workspaceId,
          sha256: createHash("sha256").update(bytes).digest("hex"),
          size_bytes: bytes.length,
          lineage: upload.lineage,
          serial: upload.serial,
          resource_count: upload.resourceCount,
          tool_version: upload.toolVersion ?? null,
          state: yield* vault.seal(place({ id, workspace_id: upload.workspaceId }), upload.state),
          install_plan_id: null,
          created_by: upload.createdBy ?? null,
          created_at: DateTime.formatIso(at),
          expires_at: DateTime.formatIso(DateTime.addDuration(at, retention.stateUpload.after)),
          used_at: null,
          imported_from: upload.imported === undefined ? null : ImportedFromJson.write(upload.imported.from),
          sealed_secrets:
            upload.imported === undefined
              ? null
              : yield* vault.seal(
                  secretsPlace({ id, workspace_id: upload.workspaceId }),
                  importedSecretsText(upload.imported.secrets)
                )
        }
        yield* Effect.orDie(sql`INSERT INTO state_uploads ${StateUploadRow.values(sql, row)}`)
        return row
      })

      const find = Effect.fnUntraced(function* (id: StateUploadId) {
        const rows = yield* StateUploadRow.rows(sql)`SELECT * FROM state_uploads WHERE id = ${id}`
        return rows[0]
      }, Effect.orDie)

      const claim = Effect.fn("StateUploads.claim")(function* (
        workspaceId: WorkspaceId,
        { sha256, uploadId }: { readonly uploadId: StateUploadId; readonly sha256: string },
        installPlanId: InstallPlanId
      ) {
        const row = yield* find(uploadId)
        if (row === undefined || row.workspace_id !== workspaceId) return yield* gone()
        if (row.sha256 !== sha256) {
          return yield* invalidRequest("adopt.sha256: this is not the digest of the uploaded file.")
        }
        const claimed =
          yield* Effect.orDie(sql`UPDATE state_uploads SET ${StateUploadRow.changes(sql, { install_plan_id: installPlanId })}
            WHERE id = ${uploadId} AND install_plan_id IS NULL AND used_at IS NULL AND expires_at > ${yield* now} RETURNING id`)
        if (claimed.length === 0) return yield* gone()
      })

      const release = (installPlanId: InstallPlanId) =>
        sql`UPDATE state_uploads SET ${StateUploadRow.changes(sql, { install_plan_id: null })}
          WHERE install_plan_id = ${installPlanId} AND used_at IS NULL`.pipe(Effect.asVoid, Effect.orDie)

      const heldRow = Effect.fnUntraced(function* (installPlanId: InstallPlanId) {
        const [row] = yield* StateUploadRow.rows(sql)`SELECT * FROM state_uploads
          WHERE install_plan_id = ${installPlanId} AND used_at IS NULL`
        return row
      }, Effect.orDie)

      const held = Effect.fnUntraced(function* (installPlanId: InstallPlanId) {
        const row = yield* heldRow(installPlanId)
        if (row?.state == null) return undefined
        const { sealed_secrets, state } = row
        return {
          row,
          state: yield* vault.open(place(row), state),
          secrets:
            sealed_secrets === null
              ? undefined
              : yield* Effect.flatMap(vault.openText(secretsPlace(row), sealed_secrets), importedSecretsOf)
        }
      }, Effect.orDie)

      const used = Effect.fnUntraced(function* (id: StateUploadId) {
        yield* sql`UPDATE state_uploads SET ${StateUploadRow.changes(sql, { state: null, sealed_secrets: null, used_at: yield* now })}
          WHERE id = ${id}`
      }, Effect.orDie)

      const eraseUnused = Effect.gen(function* () {
        yield* sql`DELETE FROM state_uploads
          WHERE used_at IS NULL AND install_plan_id IS NULL AND expires_at <= ${yield* now}`
      }).pipe(Effect.orDie, Effect.withSpan("StateUploads.eraseUnused"))

      return StateUploads.of({ insert, find, claim, release, heldRow, held, used, eraseUnused })
    })
  )
}
