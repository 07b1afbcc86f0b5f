import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { normaliseProviderAddress } from "../../../schema/records/NormaliseProviderAddress.ts"
import type { ProviderRequirement, ProviderResolution } from "../../../schema/records/Provider.ts"
import type { ConnectionRow } from "../../inputs/connection/ConnectionRow.ts"
import { effectiveStatus, isUsable, statusRemedy } from "../../inputs/connection/ConnectionStore.ts"
import { credentialFreeProviders } from "../../../schema/records/CredentialFreeProviders.ts"

/** The reason why a provider requirement is not met. */
export interface ProviderObstacle {
  readonly status: Exclude<ProviderResolution["status"], "resolved_provider_connection">
  readonly blockedReason: string
}

type Bound = Pick<ConnectionRow, "expires_at" | "provider" | "scope" | "status" | "workspace_id">

const denied = (blockedReason: string): ProviderObstacle => ({ status: "blocked_policy", blockedReason })
const missing = (blockedReason: string): ProviderObstacle => ({ status: "blocked_missing_connection", blockedReason })

const nameOf = ({ childAlias, moduleLocalName }: ProviderRequirement) =>
  childAlias === undefined ? moduleLocalName : `${moduleLocalName}.${childAlias}`

/**
 * Returns the reason why the provider is not allowed by the operator, or why the bound Connection cannot be used now.
 * Returns `undefined` if the provider and the Connection can be used. Use rules are checked later, because they depend on
 * the person and the site.
 */
export const providerObstacle = (
  requirement: ProviderRequirement,
  bound: Bound | undefined,
  {
    at,
    deniedProviders,
    workspaceId
  }: {
    readonly at: string
    readonly deniedProviders: ReadonlyArray<string>
    readonly workspaceId: WorkspaceId
  }
): ProviderObstacle | undefined => {
  const provider = normaliseProviderAddress(requirement.provider)
  if (deniedProviders.some((name) => normaliseProviderAddress(name) === provider)) {
    return denied("The operator does not allow this provider.")
  }
  if (bound === undefined) {
    return credentialFreeProviders.has(requirement.provider)
      ? undefined
      : missing(`No Connection is bound to ${nameOf(requirement)}.`)
  }
  const status = effectiveStatus(bound, at)
  if (!isUsable(status)) return missing(`The bound Connection is ${status}. ${statusRemedy(status)}`)
  if (bound.scope !== "operator" && bound.workspace_id !== workspaceId) {
    return denied("The bound Connection belongs to another Workspace.")
  }
  return normaliseProviderAddress(bound.provider) === provider
    ? undefined
    : denied(`The bound Connection is for ${bound.provider}.`)
}
