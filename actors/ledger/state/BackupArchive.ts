import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { Effect, Option, Schema } from "effect"
import { readDocument } from "../../../runner/document/Documents.ts"
import {
  CapsuleId,
  InstallConfigId,
  SourceSnapshotId,
  StateVersionId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import type { Columns, RowOf } from "../../base/database/Table.ts"
import { OutputRow, StateVersionRow } from "./StateVersionRow.ts"
import { outsideTransaction } from "../../../runner/thread/OutsideTransaction.ts"

/** The columns of an archived Capsule that a restore reads. */
const capsuleColumns = {
  id: CapsuleId,
  name: Schema.String,
  install_config_id: InstallConfigId,
  current_state_version_id: Schema.NullOr(StateVersionId),
  current_state_generation: Schema.Int,
  adopted_snapshot_id: Schema.NullOr(SourceSnapshotId),
  adopted_ref: Schema.NullOr(Schema.String),
  adopted_path: Schema.NullOr(Schema.String),
  adopted_commit: Schema.NullOr(Schema.String),
  tool_name: Schema.NullOr(Schema.Literals(["opentofu", "terraform"])),
  provider_lock: Schema.NullOr(Schema.String),
  public_endpoint: Schema.NullOr(Schema.String)
}
export type ArchivedCapsule = RowOf<typeof capsuleColumns>

const AnyRow = Schema.Record(Schema.String, Schema.Unknown)

/** The parts of an archive that a restore reads. Values that are sealed in the database are sealed in the archive too. */
const Archive = Schema.Struct({
  format: Schema.Literal("svc.backup/v1"),
  capsules: Schema.Array(AnyRow),
  stateVersions: Schema.Array(AnyRow),
  outputs: Schema.Array(AnyRow),
  generatedSecrets: Schema.optionalKey(Schema.Array(AnyRow))
})
const decodeArchive = Schema.decodeUnknownOption(Archive)
/** Larger than any archive in a file of the permitted size, unless the archive was crafted to exhaust memory. */
const mostArchiveBytes = 512 * 1024 * 1024
const inflate = promisify(gunzip)

/** Rows with these columns. A column that did not exist when a row was archived reads as null. */
const rowsOf = <const C extends Columns>(columns: C) => {
  const names = Object.keys(columns)
  const decode = Schema.decodeUnknownOption(Schema.Array(Schema.Struct(columns)))
  return (rows: ReadonlyArray<typeof AnyRow.Type>) =>
    decode(rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null]))))
}
const archivedCapsules = rowsOf(capsuleColumns)
const archivedVersions = rowsOf(StateVersionRow.columns)
const archivedOutputs = rowsOf(OutputRow.columns)
const generatedColumns = {
  id: Schema.String,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  target: Schema.String,
  bytes: Schema.Int,
  encoding: Schema.Literals(["hex", "base64url"]),
  sealed_value: Schema.String
}
const archivedSecrets = rowsOf(generatedColumns)

/** A Capsule as it was when the backup was made. */
export interface CapsuleInBackup {
  readonly capsule: ArchivedCapsule
  /** Its state at that time; none if it had never been applied. */
  readonly version: StateVersionRow | undefined
  readonly outputs: ReadonlyArray<OutputRow>
  /** The secrets that the service generated for it, sealed. */
  readonly generated: ReadonlyArray<RowOf<typeof generatedColumns>>
}

/** The contents of an archive; `none` when it is damaged, or unpacks to more than any archive does. */
export const archiveContents = (
  archive: Uint8Array,
  most: number = mostArchiveBytes
): Effect.Effect<Option.Option<Uint8Array>> =>
  Effect.option(Effect.tryPromise(() => inflate(archive, { maxOutputLength: most }))).pipe(
    outsideTransaction("A backup is unpacked")
  )

/** The Capsules of an archive; `none` when this release cannot read it. */
export const capsulesInArchive = Effect.fnUntraced(function* (archive: Uint8Array) {
  const contents = yield* archiveContents(archive)
  const document = Option.isNone(contents) ? Option.none() : yield* archiveDocument(contents.value)
  return Option.flatMap(document, capsulesInDocument)
})

/** The document in an archive; `none` if the bytes are no JSON. */
export const archiveDocument = (contents: Uint8Array): Effect.Effect<Option.Option<Schema.Json>> =>
  Effect.option(readDocument("json", contents))

/** The Capsules of an archive, from its document. */
export const capsulesInDocument = (document: Schema.Json): Option.Option<ReadonlyArray<CapsuleInBackup>> =>
  Option.gen(function* () {
    const content = yield* decodeArchive(document)
    const capsules = yield* archivedCapsules(content.capsules)
    const versions = yield* archivedVersions(content.stateVersions)
    const outputs = yield* archivedOutputs(content.outputs)
    const generated = yield* archivedSecrets(content.generatedSecrets ?? [])
    return capsules.map((capsule) => ({
      capsule,
      version: versions.find(({ id }) => id === capsule.current_state_version_id),
      outputs: outputs.filter(({ state_version_id }) => state_version_id === capsule.current_state_version_id),
      generated: generated.filter(({ capsule_id }) => capsule_id === capsule.id)
    }))
  })
