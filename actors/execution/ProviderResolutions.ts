import { Effect, Result } from "effect"
import type { ConnectionId, InstallConfigId, WorkspaceId } from "../../schema/records/Ids.ts"
import { type ProviderRequirement, type ProviderResolution, requirementKey } from "../../schema/records/Provider.ts"
import { normalProviderAddress } from "../../schema/records/NormalProviderAddress.ts"
import { credentialFreeProviders } from "../connection/CredentialRecipes.ts"
import { ConnectionStore, effectiveStatus, isUsable, statusRemedy } from "../connection/ConnectionStore.ts"
import { ConnectionUses, type UseSite, type UseStarter } from "../connection/ConnectionUses.ts"
import { now } from "../Identity.ts"
import { RunSettings } from "../run/RunSettings.ts"
import { InstallConfigStore } from "../configuration/InstallConfigStore.ts"
import { type ConnectionRow, NamesJson } from "../connection/ConnectionRow.ts"

const blockedBy = (
  requirement: ProviderRequirement,
  row: ConnectionRow | undefined,
  workspaceId: WorkspaceId,
  at: string,
  deniedProviders: ReadonlyArray<string>
) => {
  const provider = normalProviderAddress(requirement.provider)
  if (deniedProviders.some((denied) => normalProviderAddress(denied) === provider)) {
    return ["blocked_policy", "The operator does not allow this provider."] as const
  }
  if (row === undefined) return undefined
  const status = effectiveStatus(row, at)
  if (!isUsable(status)) {
    return ["blocked_missing_connection", `The bound Connection is ${status}. ${statusRemedy(status)}`] as const
  }
  if (row.scope !== "operator" && row.workspace_id !== workspaceId) {
    return ["blocked_policy", "The bound Connection belongs to another Workspace."] as const
  }
  if (normalProviderAddress(row.provider) !== provider) {
    return ["blocked_policy", `The bound Connection is for ${row.provider}.`] as const
  }
  return undefined
}

/** The authority for using the Connections, and the place. */
export interface ProviderUse {
  readonly starter: UseStarter
  readonly site: UseSite
}

/**
 * How a configuration's bindings satisfy a module's requirements; reads no secret. Without a `use` nothing is started, so no
 * rule is applied.
 */
export const resolveProviders = Effect.fn("resolveProviders")(function* (
  workspaceId: WorkspaceId,
  installConfigId: InstallConfigId,
  requirements: ReadonlyArray<ProviderRequirement>,
  use?: ProviderUse
) {
  const configs = yield* InstallConfigStore
  const connections = yield* ConnectionStore
  const uses = yield* ConnectionUses
  const { deniedProviders } = yield* RunSettings
  const at = yield* now
  const bound = new Map<string, ConnectionId>()
  for (const row of yield* configs.bindings(installConfigId)) {
    bound.set(
      requirementKey({
        provider: row.provider,
        moduleLocalName: row.module_local_name,
        childAlias: row.child_alias ?? undefined
      }),
      row.connection_id
    )
  }
  const resolutions: Array<ProviderResolution> = []
  const used: Array<{ readonly requirement: ProviderRequirement; readonly row: ConnectionRow }> = []
  for (const requirement of requirements) {
    const connectionId = bound.get(requirementKey(requirement))
    const row = connectionId === undefined ? undefined : yield* connections.find(connectionId)
    const blocked = blockedBy(requirement, row, workspaceId, at, deniedProviders)
    if (blocked !== undefined) {
      resolutions.push({
        ...requirement,
        status: blocked[0],
        blockedReason: blocked[1],
        envNames: [],
        ...(row === undefined ? {} : { connectionId: row.id })
      })
    } else if (row !== undefined) {
      const granted = use === undefined ? undefined : yield* Effect.result(uses.grant(row, use.starter, use.site))
      if (granted !== undefined && Result.isFailure(granted)) {
        const { message } = granted.failure
        const refused = { status: "blocked_policy", blockedReason: message, connectionId: row.id } as const
        resolutions.push({ ...requirement, ...refused, envNames: [] })
        continue
      }
      used.push({ requirement, row })
      resolutions.push({
        ...requirement,
        status: "resolved_provider_connection",
        connectionId: row.id,
        ...(granted === undefined ? {} : { use: granted.success }),
        envNames: NamesJson.read(row.env_names)
      })
    } else if (credentialFreeProviders.has(requirement.provider)) {
      resolutions.push({ ...requirement, status: "resolved_provider_connection", envNames: [] })
    } else {
      resolutions.push({
        ...requirement,
        status: "blocked_missing_connection",
        blockedReason: `No Connection is bound to ${requirement.moduleLocalName}${requirement.childAlias === undefined ? "" : `.${requirement.childAlias}`}.`,
        envNames: []
      })
    }
  }
  return { resolutions, used }
})
