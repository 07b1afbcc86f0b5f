import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { sha256OfLong } from "../../../runner/execution/Digest.ts"
import type { StateOutput } from "../../../runner/execution/RunOutcome.ts"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import {
  type CapsuleId,
  type InstallConfigId,
  type OrphanedStateId,
  OutputId,
  type RunId,
  type SourceSnapshotId,
  type StateUploadId,
  StateVersionId,
  type WorkspaceId
} from "../../../schema/records/Ids.ts"
import { Output, StateVersion } from "../../../schema/records/StateVersion.ts"
import { derivedId, now } from "../../base/Identity.ts"
import { secretsOfText, secretsText } from "../../base/vault/SealedSecrets.ts"
import type { SealContext } from "../../base/vault/Sealing.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { StateIndex } from "./StateIndex.ts"
import type { BuildColumns } from "../build/BuildColumns.ts"
import { inParts } from "../../base/database/RowParts.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import {
  type ListedStateVersion,
  OutputJson,
  OutputRow,
  PrivateOriginsJson,
  StateVersionRow
} from "./StateVersionRow.ts"

/** Fields of a StateVersion to insert. */
export interface NewStateVersion {
  readonly workspaceId: WorkspaceId
  readonly capsuleId: CapsuleId
  readonly runId: RunId
  readonly generation: number
  readonly state: Redacted.Redacted<Uint8Array>
  readonly lineage: string
  readonly serial: number
  readonly resourceCount: number
  readonly partial: boolean
  readonly sourceSnapshotId: SourceSnapshotId | undefined
  readonly installConfigId: InstallConfigId
  readonly outputs: ReadonlyArray<StateOutput>
  /** Secret inputs of this apply and earlier ones. The state may contain them without marking them as sensitive. */
  readonly secrets: ReadonlyArray<SecretText>
  /** The source build used by the plan of this apply. */
  readonly build: BuildColumns
  /** The left-over state that was adopted; absent for a state committed by a settlement. */
  readonly leftOverStateId?: OrphanedStateId | undefined
  /** The upload that an install took over. */
  readonly stateUploadId?: StateUploadId | undefined
}

/** The fields of a new StateVersion that are available before its transaction. */
export type PreparedStateVersion = Pick<
  NewStateVersion,
  "workspaceId" | "capsuleId" | "runId" | "generation" | "state" | "leftOverStateId" | "stateUploadId"
> & {
  /** `undefined` if they are unknown. */
  readonly secrets: ReadonlyArray<SecretText> | undefined
  readonly outputs?: ReadonlyArray<StateOutput>
}

/**
 * Derives the id of the StateVersion that a Run, an adopted left-over state or an upload commits. Each Run, left-over state
 * or upload commits exactly one StateVersion.
 */
export const stateVersionIdOf = (from: string): StateVersionId => derivedId(StateVersionId, "sv", from, "state")

/**
 * The sealing context of a state. It includes the generation, so that replacing a newer state with an older state is
 * detected.
 */
export const statePlace = (row: {
  readonly workspace_id: WorkspaceId
  readonly id: StateVersionId
  readonly generation: number
}) => ({
  table: "state_versions",
  column: "state",
  workspaceId: row.workspace_id,
  rowId: row.id,
  version: row.generation
})

const outputPlace = (workspaceId: WorkspaceId, id: string) => ({
  table: "outputs",
  column: "sealed_value",
  workspaceId,
  rowId: id
})

const outputIdOf = (id: StateVersionId, { name }: StateOutput) => derivedId(OutputId, "out", id, name)

interface SealedText {
  readonly text: Redacted.Redacted
  readonly sealed: string
}

const keyOf = ({ column, rowId, version }: SealContext) => `${column} ${rowId} ${version ?? ""}`

/** The context used to seal a state's secret inputs. */
export const secretsPlace = (row: Parameters<typeof statePlace>[0]) => ({
  ...statePlace(row),
  column: "sealed_secrets"
})

const decodeStateVersion = storedRecord(StateVersion)
const decodeOutput = storedRecord(Output)

export const toStateVersion = (row: ListedStateVersion): StateVersion =>
  decodeStateVersion({
    id: row.id,
    workspaceId: row.workspace_id,
    capsuleId: row.capsule_id,
    generation: row.generation,
    serial: row.serial,
    digest: row.digest,
    resourceCount: row.resource_count,
    createdByRunId: row.created_by_run_id,
    createdAt: row.created_at,
    partial: row.partial === 1,
    origin: row.state_upload_id !== null ? "adopted" : row.left_over_state_id !== null ? "left_over" : "run",
    ...(row.left_over_state_id === null ? {} : { adoptedFrom: row.left_over_state_id }),
    ...(row.state_upload_id === null ? {} : { stateUploadId: row.state_upload_id })
  })

/**
 * If an Output is private although the module does not mark it as sensitive, returns the reason; otherwise returns
 * `undefined`.
 */
export const privacyReason = ({ name, private_origins }: OutputRow): string | undefined => {
  if (private_origins === null) return undefined
  const origins = PrivateOriginsJson.read(private_origins)
  return `The Output ${name} is private: it repeats ${origins.length === 0 ? "a secret" : origins.join(", ")}.`
}

/**
 * Returns the reason in the form that another Workspace may see: it contains the name that this Workspace uses for the
 * Output, and does not reveal which secrets exist.
 */
export const privacyElsewhere = ({ private_origins }: OutputRow, name: string): string | undefined =>
  private_origins === null ? undefined : `The Output ${name} is private: it repeats a secret.`

/** Returns the public projection of an Output, or `undefined` if it is sensitive. */
export const toOutput = (row: OutputRow): Output | undefined =>
  row.sensitive === 1 || row.value === null
    ? undefined
    : decodeOutput({
        name: row.name,
        type: OutputJson.parse(row.type),
        value: OutputJson.parse(row.value),
        sensitive: false,
        stateVersionId: row.state_version_id
      })

/**
 * The only writer of `state_versions` and `outputs`. States are sealed before they are stored, and indexed in the same
 * transaction.
 */
export class StateVersions extends Context.Service<
  StateVersions,
  {
    /**
     * Performs the slow parts of `insert`, with the same bytes, before the transaction: hashing, encryption, and reading the
     * contents for the index. `insert` checks what it uses of this, and repeats the rest.
     */
    readonly prepare: (version: PreparedStateVersion) => Effect.Effect<void>
    /** Runs in the caller's transaction. */
    readonly insert: (
      version: NewStateVersion
    ) => Effect.Effect<{ readonly id: StateVersionId; readonly digest: string }>
    readonly find: (id: StateVersionId | null) => Effect.Effect<StateVersionRow | undefined>
    readonly open: (row: StateVersionRow) => Effect.Effect<Redacted.Redacted<Uint8Array>>
    /** Like `open`, for a StateVersion that may be removed concurrently. If it has been removed, returns `none`. */
    readonly openStored: (row: StateVersionRow) => Effect.Effect<Option.Option<Redacted.Redacted<Uint8Array>>>
    /** Returns the secret inputs that the state may contain. */
    readonly secrets: (row: StateVersionRow) => Effect.Effect<ReadonlyArray<SecretText>>
    readonly outputs: (stateVersionId: StateVersionId | null) => Effect.Effect<ReadonlyArray<OutputRow>>
    /** Returns the value of an Output as JSON text, for comparison. */
    readonly outputText: (row: OutputRow) => Effect.Effect<Redacted.Redacted<string>>
    /**
     * Returns the value of an Output, even if it is sensitive. Use it only for delivery to another Run, never for a projection.
     */
    readonly outputValue: (row: OutputRow) => Effect.Effect<Redacted.Redacted<Schema.Json>>
  }
>()("svc/actors/ledger/state/StateVersions") {
  static readonly layer = Layer.effect(
    StateVersions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const index = yield* StateIndex

      const idOf = ({ leftOverStateId, runId, stateUploadId }: PreparedStateVersion) =>
        stateVersionIdOf(leftOverStateId ?? stateUploadId ?? runId)

      /** Texts that were sealed before the transaction, by state and by the ids of their rows. */
      const sealedTexts = new WeakMap<Uint8Array, ReadonlyMap<string, SealedText>>()

      const sealedText = Effect.fnUntraced(function* (
        state: Redacted.Redacted<Uint8Array>,
        place: SealContext,
        text: Redacted.Redacted
      ) {
        const known = sealedTexts.get(Redacted.value(state))?.get(keyOf(place))
        return known !== undefined && Redacted.value(known.text) === Redacted.value(text)
          ? known.sealed
          : yield* vault.seal(place, text)
      })

      const valueOf = ({ value }: StateOutput) => OutputJson.write(Redacted.value(value))

      /** Seals everything that the transaction would seal. */
      const sealAhead = Effect.fnUntraced(function* (version: PreparedStateVersion) {
        const id = idOf(version)
        const place = { workspace_id: version.workspaceId, id, generation: version.generation }
        yield* vault.sealAhead(statePlace(place), version.state)
        const texts = [
          ...(version.secrets === undefined ? [] : [[secretsPlace(place), secretsText(version.secrets)] as const]),
          ...(version.outputs ?? []).flatMap((output) =>
            output.sensitive
              ? [[outputPlace(version.workspaceId, outputIdOf(id, output)), Redacted.make(valueOf(output))] as const]
              : []
          )
        ]
        const sealed = yield* Effect.forEach(texts, ([at, text]) =>
          Effect.map(vault.seal(at, text), (value) => [keyOf(at), { text, sealed: value }] as const)
        )
        sealedTexts.set(Redacted.value(version.state), new Map(sealed))
      })

      const insert = Effect.fn("StateVersions.insert")(function* (version: NewStateVersion) {
        const id = idOf(version)
        const bytes = Redacted.value(version.state)
        const digest = yield* sha256OfLong(bytes)
        const createdAt = yield* now
        const place = statePlace({ workspace_id: version.workspaceId, id, generation: version.generation })
        yield* sql`INSERT INTO state_versions ${StateVersionRow.values(sql, {
          id,
          workspace_id: version.workspaceId,
          capsule_id: version.capsuleId,
          generation: version.generation,
          serial: version.serial,
          lineage: version.lineage,
          digest,
          resource_count: version.resourceCount,
          size_bytes: bytes.length,
          state: yield* vault.seal(place, version.state),
          partial: version.partial ? 1 : 0,
          source_snapshot_id: version.sourceSnapshotId ?? null,
          install_config_id: version.installConfigId,
          sealed_secrets: yield* sealedText(
            version.state,
            secretsPlace({ workspace_id: version.workspaceId, id, generation: version.generation }),
            secretsText(version.secrets)
          ),
          ...version.build,
          created_by_run_id: version.runId,
          left_over_state_id: version.leftOverStateId ?? null,
          state_upload_id: version.stateUploadId ?? null,
          created_at: createdAt
        })}`
        const outputs = yield* Effect.forEach(version.outputs, (output) =>
          Effect.gen(function* () {
            const outputId = outputIdOf(id, output)
            const value = valueOf(output)
            return {
              id: outputId,
              workspace_id: version.workspaceId,
              capsule_id: version.capsuleId,
              state_version_id: id,
              name: output.name,
              type: OutputJson.write(output.type),
              value: output.sensitive ? null : value,
              sealed_value: output.sensitive
                ? yield* sealedText(version.state, outputPlace(version.workspaceId, outputId), Redacted.make(value))
                : null,
              sensitive: output.sensitive ? (1 as const) : (0 as const),
              private_origins: output.origins === undefined ? null : PrivateOriginsJson.write(output.origins)
            }
          })
        )
        yield* inParts(outputs, (some) => sql`INSERT INTO outputs ${OutputRow.several(sql, some)}`)
        yield* index.add({ ...version, id, createdAt })
        return { id, digest }
      }, Effect.orDie)

      const find = Effect.fnUntraced(function* (id: StateVersionId | null) {
        const rows = yield* StateVersionRow.rows(sql)`SELECT * FROM state_versions WHERE id = ${id}`
        return rows[0]
      }, Effect.orDie)

      const openStored = (row: StateVersionRow) => Effect.orDie(vault.openStored(statePlace(row), row.state))

      const open = (row: StateVersionRow) =>
        Effect.flatMap(
          openStored(row),
          Option.match({
            onSome: Effect.succeed,
            onNone: () => Effect.die(new Error(`The StateVersion ${row.id} was removed while it was read`))
          })
        )

      const secrets = Effect.fnUntraced(function* (row: StateVersionRow) {
        // The state was committed by a release that did not record secrets.
        if (row.sealed_secrets === null) return []
        return yield* secretsOfText(yield* vault.openText(secretsPlace(row), row.sealed_secrets))
      }, Effect.orDie)

      const outputs = (stateVersionId: StateVersionId | null) =>
        Effect.orDie(
          OutputRow.rows(sql)`SELECT * FROM outputs WHERE state_version_id = ${stateVersionId} ORDER BY name`
        )

      const outputText = (row: OutputRow) =>
        row.sealed_value === null
          ? Effect.succeed(Redacted.make(row.value ?? "null"))
          : Effect.orDie(vault.openText(outputPlace(row.workspace_id, row.id), row.sealed_value))

      const outputValue = Effect.fnUntraced(function* (row: OutputRow) {
        const text = Redacted.value(yield* outputText(row))
        return Redacted.make(yield* Schema.decodeEffect(Schema.fromJsonString(Schema.Json))(text))
      }, Effect.orDie)

      return StateVersions.of({
        prepare: Effect.fnUntraced(function* (version) {
          yield* vault.prepare(version.workspaceId, ["state_versions", "outputs"])
          yield* sha256OfLong(Redacted.value(version.state))
          yield* sealAhead(version)
          yield* index.prepare(version)
        }),
        insert,
        find,
        open,
        openStored,
        secrets,
        outputs,
        outputText,
        outputValue
      })
    })
  ).pipe(Layer.provideMerge(StateIndex.layer))
}
