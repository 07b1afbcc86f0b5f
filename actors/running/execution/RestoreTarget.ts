import { createHash } from "node:crypto"
import { Effect, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { readState } from "../../../runner/document/Documents.ts"
import { withSerial } from "../../../runner/execution/StateSerial.ts"
import { failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { BackupId, type CapsuleId, type ConnectionId, type InstallConfigId } from "../../../schema/records/Ids.ts"
import {
  type ConfigurationDifference,
  type MovedPointer,
  RestoreEvidence
} from "../../../schema/records/RestoreEvidence.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { bindingsOf } from "../../ledger/configuration/StoredBindings.ts"
import {
  InstallConfigStore,
  type LoadedInstallConfig,
  type VariableValues
} from "../../ledger/configuration/InstallConfigStore.ts"
import { rowShape } from "../../base/database/Table.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { type ArchivedCapsule, capsulesInArchive } from "../../ledger/state/BackupArchive.ts"
import { BackupStore } from "../../ledger/state/BackupStore.ts"
import type { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { restoredOutputs } from "./OutputPublications.ts"

/** The parts of a configuration that are compared, including its private values and bindings. */
interface ComparedConfig {
  readonly config: LoadedInstallConfig
  readonly values: VariableValues
  readonly bindings: ReadonlyArray<{
    readonly provider: string
    readonly moduleLocalName: string
    readonly childAlias?: string
    readonly connectionId: ConnectionId
  }>
}

/** Returns the names whose values differ or that exist on one side only. */
const differences = (
  kind: ConfigurationDifference["kind"],
  current: ReadonlyMap<string, string>,
  restored: ReadonlyMap<string, string>
): ReadonlyArray<ConfigurationDifference> =>
  [...new Set([...current.keys(), ...restored.keys()])].toSorted().flatMap((name) => {
    const [now, then] = [current.get(name), restored.get(name)]
    if (now === then) return []
    return [{ kind, name, change: now === undefined ? "added" : then === undefined ? "removed" : "changed" }]
  })

const inputsOf = ({ values }: ComparedConfig) =>
  new Map(Object.entries(values).map(([name, value]) => [name, canonicalJson(value)]))

const providersOf = ({ bindings }: ComparedConfig) =>
  new Map(
    bindings.map(({ childAlias, connectionId, moduleLocalName, provider }) => [
      `${provider} (${moduleLocalName}${childAlias === undefined ? "" : `.${childAlias}`})`,
      connectionId
    ])
  )

const outputsOf = ({ config }: ComparedConfig) =>
  new Map(config.config.outputs.map((output) => [output.name, canonicalJson([output.name])]))

/** Lists the settings that differ between two configurations, by name. Values are compared but not returned. */
const configurationDifferences = (
  current: ComparedConfig,
  restored: ComparedConfig
): ReadonlyArray<ConfigurationDifference> => [
  ...differences("input", inputsOf(current), inputsOf(restored)),
  ...differences("provider", providersOf(current), providersOf(restored)),
  ...differences("output", outputsOf(current), outputsOf(restored))
]

/** Returns the pointers that the restore changes. */
const movedPointers = (
  capsule: GuardedCapsuleRow,
  current: LoadedInstallConfig,
  archived: ArchivedCapsule,
  restored: LoadedInstallConfig
): ReadonlyArray<MovedPointer> => {
  const all: ReadonlyArray<readonly [MovedPointer["name"], string | null, string | null]> = [
    ["installConfigId", capsule.install_config_id, archived.install_config_id],
    ["modulePath", current.row.module_path, restored.row.module_path],
    ["sourceSnapshotId", capsule.adopted_snapshot_id, archived.adopted_snapshot_id],
    ["ref", capsule.adopted_ref, archived.adopted_ref],
    ["path", capsule.adopted_path, archived.adopted_path],
    ["resolvedCommit", capsule.adopted_commit, archived.adopted_commit],
    ["tool", capsule.tool_name, archived.tool_name]
  ]
  return all.flatMap(([name, now, then]) =>
    now === then
      ? []
      : [{ name, ...(now === null ? {} : { current: now }), ...(then === null ? {} : { restored: then }) }]
  )
}

const decodeSpec = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ backupId: BackupId })))

const encodeEvidence = Schema.encodeSync(RestoreEvidence)

/** Returns the id of the backup that a reviewed restore refers to. */
export const backupOf = (plan: Pick<RunRow, "spec">) =>
  Effect.map(Effect.orDie(decodeSpec(plan.spec)), ({ backupId }) => backupId)

const Highest = rowShape({ serial: Schema.NullOr(Schema.Int) })

/** Returns the highest serial of all states of the Capsule, whether they were adopted or not. */
const highestSerial = Effect.fnUntraced(function* (capsuleId: CapsuleId, archived: StateVersionRow) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(Highest.rows(sql)`SELECT MAX(serial) AS serial FROM (
    SELECT serial FROM state_versions WHERE capsule_id = ${capsuleId}
    UNION ALL SELECT serial FROM left_over_states WHERE capsule_id = ${capsuleId}) AS serials`)
  return Math.max(row?.serial ?? 0, archived.serial)
})

const compared = Effect.fnUntraced(function* (id: InstallConfigId) {
  const configs = yield* InstallConfigStore
  const config = yield* configs.load(id)
  return config === undefined
    ? undefined
    : { config, values: yield* configs.values(config.row), bindings: yield* bindingsOf(config.row.id) }
})

const standingOf = (row: Pick<StateVersionRow, "id" | "generation" | "serial" | "resource_count">) => ({
  stateVersionId: row.id,
  generation: row.generation,
  serial: row.serial,
  resourceCount: row.resource_count
})

/** Reads the Capsule's contents from a backup. Unpacking takes a while, so call it before the transaction. */
export const archivedIn = Effect.fn("archivedIn")(function* (capsuleId: CapsuleId, backupId: BackupId) {
  const backups = yield* BackupStore
  const states = yield* StateVersions
  const backup = yield* backups.find(backupId)
  if (backup === undefined) return yield* failedPrecondition(`The backup ${backupId} is gone.`)
  const inside = yield* capsulesInArchive(yield* backups.open(backupId))
  if (Option.isNone(inside)) return yield* failedPrecondition("This release cannot read the records of the backup.")
  const found = inside.value.find((entry) => entry.capsule.id === capsuleId)
  if (found === undefined) return yield* failedPrecondition("The backup does not hold this Capsule.")
  const { capsule, outputs, version } = found
  if (version === undefined)
    return yield* failedPrecondition("The Capsule had no state when the backup was made, so there is none to restore.")
  const original = Redacted.value(yield* states.open(version))
  const isEncrypted = Option.exists(yield* readState(original), (file) => file.outputs === undefined)
  const serial = (yield* highestSerial(capsuleId, version)) + 1
  const state = isEncrypted ? Option.none() : withSerial(original, serial)
  if (Option.isNone(state))
    return yield* failedPrecondition("The state in the backup is encrypted or no state file, so it gets no new serial.")
  return { backup, capsule, outputs, serial, state: Redacted.make(state.value), version }
})
export type ArchivedIn = Effect.Success<ReturnType<typeof archivedIn>>

/**
 * Computes the changes that restoring a backup would make to the Capsule, in the caller's transaction. Both the review and
 * the commit compute the changes and compare the digests.
 */
export const restoreTarget = Effect.fn("restoreTarget")(function* (
  capsule: GuardedCapsuleRow,
  { backup, capsule: archived, outputs, serial, state, version }: ArchivedIn
) {
  const states = yield* StateVersions
  const current = yield* (yield* BackupStore).find(backup.id)
  if (current?.digest !== backup.digest) return yield* failedPrecondition(`The backup ${backup.id} is gone.`)
  const restored = yield* compared(archived.install_config_id)
  if (restored === undefined)
    return yield* failedPrecondition("The configuration that the backup names does not exist in this installation.")
  const present = yield* compared(capsule.install_config_id)
  if (present === undefined) return yield* Effect.die(new Error(`The configuration of ${capsule.id} is gone`))

  if (serial !== (yield* highestSerial(capsule.id, version)) + 1)
    return yield* failedPrecondition("The Capsule has received a state in the meantime. Ask for the restore again.")

  const before = yield* states.find(capsule.current_state_version_id)
  const generation = capsule.current_state_generation + 1
  const moved = restoredOutputs(before === undefined ? [] : yield* states.outputs(before.id), outputs)
  const evidence = RestoreEvidence.make({
    backupId: backup.id,
    backupCreatedAt: backup.created_at,
    ...(before === undefined ? {} : { current: standingOf(before) }),
    restored: standingOf(version),
    next: { generation, serial, executionAuthorityEpoch: capsule.execution_authority_epoch + 1 },
    configuration: configurationDifferences(present, restored),
    pointers: movedPointers(capsule, present.config, archived, restored.config),
    ...(moved.length === 0 ? {} : { outputs: moved })
  })
  const digest = `sha256:${createHash("sha256")
    .update(canonicalJson([backup.digest, version.digest, encodeEvidence(evidence)]))
    .digest("hex")}`
  return {
    archived,
    before,
    config: restored,
    digest,
    evidence,
    outputs,
    serial,
    state,
    version
  }
})
export type RestoreTarget = Effect.Success<ReturnType<typeof restoreTarget>>
