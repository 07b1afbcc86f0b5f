import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { Effect, Option, Schema } from "effect"
import { isObject } from "effect/Predicate"
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

/** The columns of a Capsule that a restore reads from an archive. */
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

/** Leaves the rows undecoded; `rowsOf` decodes them in small groups. */
const AnyRows = Schema.Array(Schema.Unknown)

/** The parts of an archive that a restore reads. Values that are sealed in the database are also sealed in the archive. */
const Archive = Schema.Struct({
  format: Schema.Literal("svc.backup/v1"),
  capsules: AnyRows,
  stateVersions: AnyRows,
  outputs: AnyRows,
  generatedSecrets: Schema.optionalKey(AnyRows)
})
const decodeArchive = Schema.decodeUnknownOption(Archive)
/**
 * Maximum unpacked size. It exceeds the size of any genuine archive, so the limit only stops an archive crafted to exhaust
 * memory.
 */
const mostArchiveBytes = 512 * 1024 * 1024
const inflate = promisify(gunzip)

/** Number of rows to decode before yielding. Decoding this many rows takes a few milliseconds. */
const rowsAtOnce = 200

/**
 * Decodes rows in small groups and yields to other fibers between the groups. A column that did not exist when the archive
 * was written is null.
 */
const rowsOf = <const C extends Columns>(columns: C) => {
  const names = Object.keys(columns)
  const decode = Schema.decodeUnknownOption(Schema.Array(Schema.Struct(columns)))
  return Effect.fnUntraced(function* (rows: typeof AnyRows.Type) {
    const read: Array<ReturnType<typeof decode>> = []
    for (let at = 0; at < rows.length; at += rowsAtOnce) {
      const some = rows.slice(at, at + rowsAtOnce).filter(isObject)
      const isWhole = some.length === Math.min(rowsAtOnce, rows.length - at)
      const named = some.map((row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null])))
      read.push(isWhole ? decode(named) : Option.none())
      yield* Effect.yieldNow
    }
    return Option.map(Option.all(read), (parts) => parts.flat())
  })
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

/** A Capsule as stored in a backup. */
export interface CapsuleInBackup {
  readonly capsule: ArchivedCapsule
  /** The state in the backup; absent if the Capsule had never been applied. */
  readonly version: StateVersionRow | undefined
  readonly outputs: ReadonlyArray<OutputRow>
  /** Sealed secrets that svc generated for the Capsule. */
  readonly generated: ReadonlyArray<RowOf<typeof generatedColumns>>
}

/** Unpacks an archive. Returns `none` if it is damaged or too large when unpacked. */
export const archiveContents = (
  archive: Uint8Array,
  most: number = mostArchiveBytes
): Effect.Effect<Option.Option<Uint8Array>> =>
  Effect.option(Effect.tryPromise(() => inflate(archive, { maxOutputLength: most }))).pipe(
    outsideTransaction("A backup is unpacked")
  )

/** Returns the Capsules in an archive, or `none` if this release cannot read the archive. */
export const capsulesInArchive = Effect.fnUntraced(function* (archive: Uint8Array) {
  const contents = yield* archiveContents(archive)
  const document = Option.isNone(contents) ? Option.none() : yield* archiveDocument(contents.value)
  return yield* capsulesInDocument(document)
})

/** Parses the document in an archive. Returns `none` if it is not JSON. */
export const archiveDocument = (contents: Uint8Array): Effect.Effect<Option.Option<Schema.Json>> =>
  Effect.option(readDocument("json", contents))

/** Groups rows by the key that `of` returns. */
const grouped = <Row>(rows: ReadonlyArray<Row>, of: (row: Row) => string): ReadonlyMap<string, ReadonlyArray<Row>> => {
  const groups = new Map<string, Array<Row>>()
  for (const row of rows) {
    const group = groups.get(of(row))
    if (group === undefined) groups.set(of(row), [row])
    else group.push(row)
  }
  return groups
}

/** Returns the Capsules in an archive's document, or `none` if this release cannot read the document. */
export const capsulesInDocument = Effect.fnUntraced(function* (document: Option.Option<Schema.Json>) {
  const content = Option.getOrUndefined(Option.flatMap(document, decodeArchive))
  if (content === undefined) return Option.none<ReadonlyArray<CapsuleInBackup>>()
  const rows = Option.all({
    capsules: yield* archivedCapsules(content.capsules),
    versions: yield* archivedVersions(content.stateVersions),
    outputs: yield* archivedOutputs(content.outputs),
    generated: yield* archivedSecrets(content.generatedSecrets ?? [])
  })
  return Option.map(rows, ({ capsules, generated, outputs, versions }): ReadonlyArray<CapsuleInBackup> => {
    const byId = grouped(versions, ({ id }) => id)
    const ofState = grouped(outputs, ({ state_version_id }) => state_version_id)
    const ofCapsule = grouped(generated, ({ capsule_id }) => capsule_id)
    return capsules.map((capsule) => ({
      capsule,
      version: byId.get(capsule.current_state_version_id ?? "")?.[0],
      outputs: ofState.get(capsule.current_state_version_id ?? "") ?? [],
      generated: ofCapsule.get(capsule.id) ?? []
    }))
  })
})
