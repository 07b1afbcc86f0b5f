import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { CompiledInstall } from "../../../schema/manifest/CompiledInstall.ts"
import { ReportOutput, type ReportVariable } from "../../../schema/records/CompatibilityReport.ts"
import { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import { type ProviderBinding, ProviderRequirement } from "../../../schema/records/Provider.ts"
import { SourceBuild } from "../../../schema/records/Run.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import { derivedId, now } from "../../base/Identity.ts"
import {
  CapsuleId,
  CompatibilityReportId,
  ConnectionId,
  InstallConfigId,
  ProviderBindingId,
  SourceSnapshotId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { StoredOperatorConfig } from "./OperatorConfigs.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { inParts } from "../../base/database/RowParts.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import type { InputChange } from "../../../schema/records/ChangeEvidence.ts"
import { shownDeclaration } from "../source/VariableView.ts"

/** Install configurations; rows are immutable. */
export const InstallConfigRow = table("install_configs", {
  id: InstallConfigId,
  workspace_id: WorkspaceId,
  capsule_id: Schema.NullOr(CapsuleId),
  origin: Schema.Literals(["operator", "repository_manifest", "generic"]),
  module_path: Schema.String,
  source_snapshot_id: Schema.NullOr(SourceSnapshotId),
  compatibility_report_id: Schema.NullOr(CompatibilityReportId),
  contract_digest: Schema.String,
  digest: Schema.String,
  config: Schema.String,
  private_variables: Schema.NullOr(Schema.String),
  predecessor_id: Schema.NullOr(InstallConfigId),
  created_at: Timestamp
})
export type InstallConfigRow = RowOf<typeof InstallConfigRow.columns>

/** The columns that lists read. They exclude the private values. */
export const ListedConfig = InstallConfigRow.without("private_variables")
export type ListedConfig = RowOf<typeof ListedConfig.columns>

/** The Connection bound to each provider of a configuration. */
export const ProviderBindingRow = table("provider_bindings", {
  id: ProviderBindingId,
  workspace_id: WorkspaceId,
  install_config_id: InstallConfigId,
  provider: Schema.String,
  module_local_name: Schema.String,
  child_alias: Schema.NullOr(Schema.String),
  connection_id: ConnectionId
})
export type ProviderBindingRow = RowOf<typeof ProviderBindingRow.columns>

/**
 * An immutable configuration without its private values. The digest covers the configuration and the private values.
 * `compiled` is the manifest compiler's output for the snapshot, report and operator policy. Plan and apply use the manifest
 * only through this output.
 */
export const StoredConfig = Schema.Struct({
  compiled: CompiledInstall,
  variables: Schema.Array(DeclaredVariable),
  outputs: Schema.Array(ReportOutput),
  rootProviderRequirements: Schema.Array(ProviderRequirement),
  sourceBuild: Schema.optionalKey(SourceBuild),
  /**
   * Absent if the operator has not defined a base configuration for the module, or if an earlier release stored the
   * configuration.
   */
  operator: Schema.optionalKey(StoredOperatorConfig)
})
export type StoredConfig = typeof StoredConfig.Type

export type VariableValues = Readonly<Record<string, Schema.Json>>

/** Fields of a configuration to insert. */
export interface NewInstallConfig {
  readonly id: InstallConfigId
  readonly workspaceId: WorkspaceId
  readonly capsuleId?: CapsuleId | undefined
  readonly origin: "operator" | "repository_manifest" | "generic"
  readonly modulePath: string
  readonly sourceSnapshotId?: SourceSnapshotId | undefined
  readonly compatibilityReportId?: CompatibilityReportId | undefined
  readonly contractDigest: string
  readonly config: StoredConfig
  readonly values: VariableValues
  readonly bindings: ReadonlyArray<ProviderBinding>
  readonly predecessorId?: InstallConfigId | undefined
}

export interface LoadedInstallConfig {
  readonly row: InstallConfigRow
  readonly config: StoredConfig
}

const StoredJson = Schema.fromJsonString(Schema.Json)
const decodeJson = Schema.decodeSync(StoredJson)
const decodeStoredJson = Schema.decodeUnknownOption(StoredJson)
const ConfigJson = jsonText(StoredConfig)
export const decodeStoredConfig = Schema.decodeUnknownEffect(Schema.fromJsonString(StoredConfig))
const ValuesJson = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))
const decodeValues = Schema.decodeUnknownEffect(ValuesJson)

const sealPlace = (workspaceId: WorkspaceId, id: string) => ({
  table: "install_configs",
  column: "private_variables",
  workspaceId,
  rowId: id
})

interface Digested {
  readonly modulePath: string
  readonly sourceSnapshotId: SourceSnapshotId | null
  readonly config: Schema.Json
  readonly valuesDigest: string
  readonly bindings: Schema.Json
}

const digestOf = ({ bindings, config, modulePath, sourceSnapshotId, valuesDigest }: Digested): string =>
  `sha256:${createHash("sha256")
    .update(canonicalJson([modulePath, sourceSnapshotId, config, valuesDigest, bindings]))
    .digest("hex")}`

type Binding = Pick<ProviderBindingRow, "provider" | "module_local_name" | "child_alias" | "connection_id">

/** The only writer of `install_configs` and `provider_bindings`. Rows are inserted once and never updated. */
export class InstallConfigStore extends Context.Service<
  InstallConfigStore,
  {
    /**
     * Inserts a configuration and returns its digest. Inserting the same id and digest again succeeds but changes nothing.
     * Runs in the caller's transaction.
     */
    readonly insert: (config: NewInstallConfig) => Effect.Effect<string>
    readonly load: (id: InstallConfigId | null) => Effect.Effect<LoadedInstallConfig | undefined>
    /** Returns the private values. Never include them in a projection. */
    readonly values: (row: InstallConfigRow) => Effect.Effect<VariableValues>
    readonly bindings: (id: InstallConfigId) => Effect.Effect<ReadonlyArray<Binding>>
    /**
     * Fails if the stored rows no longer match the configuration's digest, which means that the rows were modified outside
     * svc.
     */
    readonly checkDigest: (id: InstallConfigId) => Effect.Effect<void, ApiError>
    /** Deletes unused configurations that checks created and whose report no longer exists. Runs in the caller's transaction. */
    readonly dropUnreported: (workspaceId: WorkspaceId) => Effect.Effect<void>
  }
>()("svc/actors/ledger/configuration/InstallConfigStore") {
  static readonly layer = Layer.effect(
    InstallConfigStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const insert = Effect.fnUntraced(function* (input: NewInstallConfig) {
        const encoded = ConfigJson.write(input.config)
        const plainValues = canonicalJson(input.values)
        // Uses a keyed digest, because the digest is published and must not help anyone guess short private values.
        const valuesDigest = yield* vault.mac("install-config-values", plainValues)
        const digest = digestOf({
          modulePath: input.modulePath,
          sourceSnapshotId: input.sourceSnapshotId ?? null,
          config: decodeJson(encoded),
          valuesDigest,
          bindings: input.bindings.map((b) => [b.provider, b.moduleLocalName, b.childAlias ?? null, b.connectionId])
        })
        const existing = yield* InstallConfigRow.some(
          sql,
          "digest"
        )`SELECT digest FROM install_configs WHERE id = ${input.id}`
        if (existing[0]?.digest === digest) return digest
        yield* sql`INSERT INTO install_configs ${InstallConfigRow.values(sql, {
          id: input.id,
          workspace_id: input.workspaceId,
          capsule_id: input.capsuleId ?? null,
          origin: input.origin,
          module_path: input.modulePath,
          source_snapshot_id: input.sourceSnapshotId ?? null,
          compatibility_report_id: input.compatibilityReportId ?? null,
          contract_digest: input.contractDigest,
          digest,
          config: encoded,
          private_variables: yield* vault.seal(sealPlace(input.workspaceId, input.id), Redacted.make(plainValues)),
          predecessor_id: input.predecessorId ?? null,
          created_at: yield* now
        })}`
        const bindings = input.bindings.map((binding, index) => ({
          id: derivedId(ProviderBindingId, "pb", input.id, `binding ${index}`),
          workspace_id: input.workspaceId,
          install_config_id: input.id,
          provider: binding.provider,
          module_local_name: binding.moduleLocalName,
          child_alias: binding.childAlias ?? null,
          connection_id: binding.connectionId
        }))
        yield* inParts(bindings, (some) => sql`INSERT INTO provider_bindings ${ProviderBindingRow.several(sql, some)}`)
        return digest
      }, Effect.orDie)

      const load = Effect.fnUntraced(function* (id: InstallConfigId | null) {
        const rows = yield* InstallConfigRow.rows(sql)`SELECT * FROM install_configs WHERE id = ${id}`
        const row = rows[0]
        return row === undefined ? undefined : { row, config: yield* decodeStoredConfig(row.config) }
      }, Effect.orDie)

      const values = Effect.fnUntraced(function* (row: InstallConfigRow) {
        if (row.private_variables === null) return {}
        const opened = yield* vault.openText(sealPlace(row.workspace_id, row.id), row.private_variables)
        return yield* decodeValues(Redacted.value(opened))
      }, Effect.orDie)

      const bindings = (id: InstallConfigId) =>
        Effect.orDie(ProviderBindingRow.some(
          sql,
          "provider",
          "module_local_name",
          "child_alias",
          "connection_id"
        )`SELECT provider, module_local_name, child_alias, connection_id
          FROM provider_bindings WHERE install_config_id = ${id} ORDER BY provider, module_local_name, child_alias`)

      const checkDigest = Effect.fnUntraced(function* (id: InstallConfigId) {
        const [row] = yield* Effect.orDie(InstallConfigRow.rows(sql)`SELECT * FROM install_configs WHERE id = ${id}`)
        if (row === undefined) return yield* Effect.die(new Error(`InstallConfig ${id} is gone`))
        const stored = yield* Effect.orDie(
          ProviderBindingRow.rows(sql)`SELECT * FROM provider_bindings WHERE install_config_id = ${id}`
        )
        const config = Option.getOrUndefined(decodeStoredJson(row.config))
        const inOrder = stored.map((_, index) => {
          const bindingId = derivedId(ProviderBindingId, "pb", id, `binding ${index}`)
          return stored.find((binding) => binding.id === bindingId)
        })
        const bindings = inOrder.flatMap((binding) => (binding === undefined ? [] : [binding]))
        if (config !== undefined && bindings.length === stored.length) {
          const base = {
            modulePath: row.module_path,
            sourceSnapshotId: row.source_snapshot_id,
            config,
            valuesDigest: yield* vault.mac("install-config-values", canonicalJson(yield* values(row)))
          }
          const digests = [
            bindings.map((b) => [b.provider, b.module_local_name, b.child_alias, b.connection_id]),
            // Keeps this object form, because earlier releases computed digests from it.
            bindings.map((b) => ({
              provider: b.provider,
              moduleLocalName: b.module_local_name,
              ...(b.child_alias === null ? {} : { childAlias: b.child_alias }),
              connectionId: b.connection_id
            }))
          ].map((form) => digestOf({ ...base, bindings: form }))
          if (digests.includes(row.digest)) return
        }
        return yield* failedPrecondition(
          `The stored configuration ${id} does not match its digest any more. Restore the database from a backup.`
        )
      })

      const dropUnreported = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
        yield* sql`DELETE FROM install_configs WHERE workspace_id = ${workspaceId} AND capsule_id IS NULL
          AND compatibility_report_id IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM compatibility_reports r WHERE r.id = compatibility_report_id)
          AND NOT EXISTS (SELECT 1 FROM capsules c WHERE c.install_config_id = install_configs.id)
          AND NOT EXISTS (SELECT 1 FROM provider_bindings b WHERE b.install_config_id = install_configs.id)`
      }, Effect.orDie)

      return InstallConfigStore.of({ insert, load, values, bindings, checkDigest, dropUnreported })
    })
  )
}

/**
 * Returns the names of inputs whose values differ from those of an earlier configuration, or `undefined` if the earlier
 * configuration has been removed. Returns names only, because values are private.
 */
export const changedInputs = Effect.fn("changedInputs")(function* (
  earlierId: InstallConfigId,
  { row }: LoadedInstallConfig
): Effect.fn.Return<ReadonlyArray<InputChange> | undefined, never, InstallConfigStore> {
  if (earlierId === row.id) return []
  const configs = yield* InstallConfigStore
  const earlier = yield* configs.load(earlierId)
  if (earlier === undefined) return undefined
  const before = yield* configs.values(earlier.row)
  const after = yield* configs.values(row)
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .toSorted()
    .flatMap((input): ReadonlyArray<InputChange> => {
      const was = before[input]
      const is = after[input]
      if (was === undefined) return [{ input, change: "added" }]
      if (is === undefined) return [{ input, change: "removed" }]
      return canonicalJson(was) === canonicalJson(is) ? [] : [{ input, change: "changed" }]
    })
})

/** Returns the variables that a commit declares, with the origins that the configuration assigns. */
export const carriedVariables = (
  config: StoredConfig,
  declared: ReadonlyArray<ReportVariable>
): ReadonlyArray<DeclaredVariable> => {
  const known = new Map(config.variables.map((variable) => [variable.name, variable]))
  return declared.map((variable) => ({
    name: variable.name,
    type: variable.type,
    required: variable.required,
    hasDefault: variable.hasDefault,
    sensitive: variable.sensitive || known.get(variable.name)?.sensitive === true,
    ephemeral: variable.ephemeral,
    ...shownDeclaration(variable, known.get(variable.name)?.sensitive === true),
    origin: known.get(variable.name)?.origin ?? "user",
    set: known.get(variable.name)?.set ?? false
  }))
}
