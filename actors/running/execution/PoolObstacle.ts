import { Effect } from "effect"
import { localPool } from "../../../schema/agent/PoolName.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { normaliseProviderAddress } from "../../../schema/records/NormaliseProviderAddress.ts"
import type { ProviderRequirement, ProviderResolution } from "../../../schema/records/Provider.ts"
import type { ConnectionRow } from "../../inputs/connection/ConnectionRow.ts"
import { isProvidedTo, notProvided, providedOf } from "../../inputs/connection/PoolCredentials.ts"
import type { ProviderObstacle } from "./ProviderObstacle.ts"

const denied = (blockedReason: string): ProviderObstacle => ({ status: "blocked_policy", blockedReason })

type Bound = Pick<ConnectionRow, "id" | "provided_name" | "provided_pool">

/**
 * Returns the reason why a Run in `pool` cannot use a Connection whose credentials are on a pool's agents. Omit `pool` if no
 * Run is being started.
 */
export const poolObstacle = Effect.fnUntraced(function* (row: Bound, workspaceId: WorkspaceId, pool?: string) {
  const providedBy = providedOf(row)
  if (providedBy === undefined) return undefined
  if (!(yield* isProvidedTo(workspaceId, providedBy))) return denied(notProvided(providedBy))
  if (pool === undefined || pool === providedBy.pool) return undefined
  const place = pool === localPool ? "the control plane itself" : `the pool ${pool}`
  return denied(
    `The values of the bound Connection stay with the agents of the pool ${providedBy.pool}, and this Run is executed by ${place}. The operator chooses the pool by an execution profile.`
  )
})

interface Used {
  readonly requirement: ProviderRequirement
  readonly row: Bound
}

/**
 * Rejects two configurations of one provider with different credentials. Such credentials become provider arguments in the plan
 * file, and the plan file would carry a pool's credentials to the control plane.
 */
export const withoutArguments = (
  resolutions: ReadonlyArray<ProviderResolution>,
  used: ReadonlyArray<Used>
): ReadonlyArray<ProviderResolution> => {
  const ofProvider = (provider: string) =>
    used.filter(
      ({ requirement }) => normaliseProviderAddress(requirement.provider) === normaliseProviderAddress(provider)
    )
  return resolutions.map((resolution) => {
    if (resolution.status !== "resolved_provider_connection" || resolution.connectionId === undefined) return resolution
    const rows = ofProvider(resolution.provider).map(({ row }) => row)
    const isApart = new Set(rows.map(({ id }) => id)).size > 1 && rows.some((row) => providedOf(row) !== undefined)
    return isApart
      ? {
          ...resolution,
          ...denied(
            "Its configurations have different Connections, so their credentials would have to be provider arguments. A plan file holds those, and would carry what the pool provides to the control plane. Bind one Connection to all configurations of the provider."
          ),
          envNames: []
        }
      : resolution
  })
}
