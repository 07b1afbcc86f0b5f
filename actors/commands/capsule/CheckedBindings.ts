import { Effect } from "effect"
import { type ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type ProviderBinding, requirementKey } from "../../../schema/records/Provider.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"

/**
 * Checks that each binding refers to one requirement of the module and to a Connection of the Workspace, and that no
 * requirement is bound twice.
 */
export const checkBindings = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  requirements: ReadonlyArray<{
    readonly provider: string
    readonly moduleLocalName: string
    readonly childAlias?: string
  }>,
  bindings: ReadonlyArray<ProviderBinding>
): Effect.fn.Return<void, ApiError, ConnectionStore> {
  const connections = yield* ConnectionStore
  const known = new Set(requirements.map(requirementKey))
  const seen = new Set<string>()
  for (const [index, binding] of bindings.entries()) {
    const key = requirementKey(binding)
    if (!known.has(key)) {
      return yield* invalidRequest(
        `providerBindings[${index}]: the selected module has no such provider requirement; provider, moduleLocalName and childAlias must equal one exactly.`
      )
    }
    if (seen.has(key)) return yield* invalidRequest(`providerBindings[${index}]: this requirement is bound twice.`)
    seen.add(key)
    const connection = yield* connections.find(binding.connectionId)
    const usable =
      connection !== undefined && (connection.scope === "operator" || connection.workspace_id === workspaceId)
    if (!usable || connection.kind !== "provider") {
      return yield* invalidRequest(
        `providerBindings[${index}].connectionId: the Workspace has no such provider Connection.`
      )
    }
  }
})
