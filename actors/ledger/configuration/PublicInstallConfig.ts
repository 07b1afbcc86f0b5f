import { Effect, type Schema } from "effect"
import { defaultProfile } from "../../../schema/policy/ExecutionProfile.ts"
import type { OperatorBaseConfig } from "../../../schema/policy/OperatorBaseConfig.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { InstallConfigId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { InstallConfig, type OperatorConfig } from "../../../schema/records/InstallConfig.ts"
import { storedJson, storedRecord } from "../../base/database/StoredRecord.ts"
import { derivedId } from "../../base/Identity.ts"
import { present } from "../run/RunRow.ts"
import { type ListedConfig, StoredConfig } from "./InstallConfigStore.ts"
import { plannedCheck } from "./OperatorAuthority.ts"
import { digestOfBase, type OperatorConfigsShape } from "./OperatorConfigs.ts"

const decodeConfig = storedJson(StoredConfig)
const decodeInstallConfig = storedRecord(InstallConfig)

const ofOperator = ({ operator }: StoredConfig): OperatorConfig | undefined =>
  operator === undefined
    ? undefined
    : {
        ...(operator.name === undefined ? {} : { name: operator.name }),
        profile: operator.profile,
        variables: operator.variables,
        postApply: (operator.lifecycle?.postApply ?? []).map(plannedCheck)
      }

/**
 * Returns the public projection. It lists each declared variable with its origin and whether it has a value, but never the value.
 */
export const toInstallConfig = (row: ListedConfig): InstallConfig => {
  const config = decodeConfig(row.config)
  const { compiled } = config
  return decodeInstallConfig({
    id: row.id,
    workspaceId: row.workspace_id,
    origin: row.origin,
    modulePath: row.module_path,
    digest: row.digest,
    variables: config.variables,
    outputAllowlist: compiled.outputAllowlist,
    interfaceBlueprints: compiled.interfaceBlueprints,
    presentation: { inputs: compiled.inputs, features: compiled.features, requires: compiled.requires },
    createdAt: row.created_at,
    ...present({
      sourceSnapshotId: row.source_snapshot_id,
      sourceBuild: config.sourceBuild,
      operator: ofOperator(config)
    })
  })
}

const typeOf = (value: Schema.Json): InstallConfig["variables"][number]["type"] => {
  if (typeof value === "string") return "string"
  if (typeof value === "number") return "number"
  return typeof value === "boolean" ? "boolean" : "json"
}

/**
 * Derives the id from the Workspace and the digest, so that each Workspace has a different id and a changed base
 * configuration gets a new id.
 */
const readyMadeId = (workspaceId: WorkspaceId, digest: string): InstallConfigId =>
  derivedId(InstallConfigId, "icfg", workspaceId, `ready-made ${digest}`)

const readyMade = (workspaceId: WorkspaceId, config: OperatorBaseConfig, loadedAt: string) => {
  const digest = digestOfBase(config)
  const { description, lifecycle, module, name, origin, path, profile = defaultProfile, variables = {} } = config
  return decodeInstallConfig({
    id: readyMadeId(workspaceId, digest),
    workspaceId,
    origin: "operator",
    modulePath: module ?? ".",
    digest,
    variables: Object.entries(variables).map(([variable, value]) => ({
      name: variable,
      type: typeOf(value),
      required: false,
      hasDefault: false,
      sensitive: false,
      ephemeral: false,
      origin: "operator",
      set: true
    })),
    outputAllowlist: config.outputAllowlist ?? [],
    interfaceBlueprints: config.interfaceBlueprints ?? [],
    createdAt: loadedAt,
    operator: {
      ...present({ name, description }),
      place: { origin, ...present({ path, module }) },
      profile,
      variables: Object.keys(variables),
      postApply: (lifecycle?.postApply ?? []).map(plannedCheck)
    },
    ...present({ sourceBuild: config.sourceBuild })
  })
}

/**
 * Returns the operator's base configurations in the form that a Workspace lists, by id. These configurations have no rows
 * yet and include no values.
 */
export const readyMadeConfigs = (operator: OperatorConfigsShape, workspaceId: WorkspaceId) =>
  Effect.sync(() =>
    operator.baseConfigs
      .map((config) => readyMade(workspaceId, config, operator.loadedAt))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
  )

/**
 * Finds the Workspace to which the id of an operator's configuration belongs. Ids cannot be reversed, so the first lookup of
 * an unknown id computes the ids of all Workspaces, once per set of base configurations.
 */
export const readyMadeOwners = (operator: OperatorConfigsShape) => {
  let derivedFrom: OperatorConfigsShape["baseConfigs"] = []
  const owners = new Map<string, WorkspaceId>()
  const known = new Set<WorkspaceId>()
  return Effect.fnUntraced(function* (id: string, workspaces: Effect.Effect<ReadonlyArray<WorkspaceId>, ApiError>) {
    if (operator.baseConfigs.length === 0) return undefined
    const all = yield* workspaces
    const { baseConfigs } = operator
    if (baseConfigs !== derivedFrom) {
      derivedFrom = baseConfigs
      owners.clear()
      known.clear()
    }
    const digests = baseConfigs.map(digestOfBase)
    for (const workspaceId of all) {
      if (known.has(workspaceId)) continue
      known.add(workspaceId)
      for (const digest of digests) owners.set(readyMadeId(workspaceId, digest), workspaceId)
    }
    return owners.get(id)
  })
}
