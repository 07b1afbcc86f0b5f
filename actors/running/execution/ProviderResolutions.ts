import { Effect, Result } from "effect"
import type { ConnectionId, InstallConfigId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { type ProviderRequirement, type ProviderResolution, requirementKey } from "../../../schema/records/Provider.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { ConnectionUses, type UseSite, type UseStarter } from "../../inputs/connection/ConnectionUses.ts"
import { now } from "../../base/Identity.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { type ConnectionRow, NamesJson } from "../../inputs/connection/ConnectionRow.ts"
import { poolObstacle, withoutArguments } from "./PoolObstacle.ts"
import { providerObstacle } from "./ProviderObstacle.ts"

/** The authority with which Connections are used, and the place where they are used. */
export interface ProviderUse {
  readonly starter: UseStarter
  readonly site: UseSite
  /** The pool that executes the Run. */
  readonly pool: string
}

/**
 * Resolves a module's provider requirements from the bindings of a configuration. Reads no secret. Leave `use` out if no Run
 * is being started; in that case, use rules do not apply.
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
    const obstacle = providerObstacle(requirement, row, { at, deniedProviders, workspaceId })
    if (obstacle !== undefined) {
      const connection = row === undefined ? {} : { connectionId: row.id }
      resolutions.push({ ...requirement, ...obstacle, envNames: [], ...connection })
      continue
    }
    const ofPool = row === undefined ? undefined : yield* poolObstacle(row, workspaceId, use?.pool)
    if (row !== undefined && ofPool !== undefined) {
      resolutions.push({ ...requirement, ...ofPool, envNames: [], connectionId: row.id })
      continue
    }
    if (row === undefined) {
      resolutions.push({ ...requirement, status: "resolved_provider_connection", envNames: [] })
      continue
    }
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
  }
  return { resolutions: withoutArguments(resolutions, used), used }
})
