import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { LoadedInstallConfig, VariableValues } from "../../ledger/configuration/InstallConfigStore.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import type { ArchivedCapsule } from "../../ledger/state/BackupArchive.ts"
import type { ConnectionId } from "../../../schema/records/Ids.ts"
import type { ConfigurationDifference, MovedPointer } from "../../../schema/records/RestoreEvidence.ts"

/** The parts of a configuration that are compared, with its private values and bindings. */
export interface ComparedConfig {
  readonly config: LoadedInstallConfig
  readonly values: VariableValues
  readonly bindings: ReadonlyArray<{
    readonly provider: string
    readonly moduleLocalName: string
    readonly childAlias?: string
    readonly connectionId: ConnectionId
  }>
}

/** Names from either side whose values differ. */
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

/** The differences between two configurations, by name. Values are compared but not included. */
export const configurationDifferences = (
  current: ComparedConfig,
  restored: ComparedConfig
): ReadonlyArray<ConfigurationDifference> => [
  ...differences("input", inputsOf(current), inputsOf(restored)),
  ...differences("provider", providersOf(current), providersOf(restored)),
  ...differences("output", outputsOf(current), outputsOf(restored))
]

/** The pointers that the restore moves. */
export const movedPointers = (
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
