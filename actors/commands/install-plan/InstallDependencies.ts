import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { NewDependency } from "../../../schema/records/Capsule.ts"
import { type CapsuleId, DependencyId, type InstallPlanId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import type { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import type { InstallConfigStore, StoredConfig, VariableValues } from "../../ledger/configuration/InstallConfigStore.ts"
import type { StateVersions } from "../../ledger/state/StateVersions.ts"
import { ConnectionUses } from "../../inputs/connection/ConnectionUses.ts"
import { checkInputs, checkProducer, checkReady, insertDependency } from "../../ledger/dependency/DependencyRules.ts"
import { derivedId } from "../../base/Identity.ts"

/** The dependencies to create with a Capsule. */
type Asked = { readonly dependencies?: ReadonlyArray<NewDependency> }

type Services = SqlClient.SqlClient | CapsuleLedger | InstallConfigStore | StateVersions

const asked = ({ dependencies = [] }: Asked) =>
  dependencies.map((dependency, index) => ({ at: `dependencies[${index}].`, dependency, index }))

/**
 * Requires the permission to add a dependency to an existing Capsule, because dependencies pass Outputs, even secret ones, to
 * code that has not been reviewed.
 */
export const checkMayDepend = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  request: Asked,
  { actor }: CommandContext
): Effect.fn.Return<void, ApiError, ConnectionUses> {
  const uses = yield* ConnectionUses
  if (asked(request).length === 0 || (yield* uses.isManager(actor.subject, workspaceId))) return
  return yield* new ApiError({
    code: "permission_denied",
    message: "dependencies: only an owner or admin lets a Capsule take Outputs of another one."
  })
})

/** Performs the checks that do not depend on the module: each producer must be ready and visible to the Workspace. */
export const checkProducers = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  request: Asked
): Effect.fn.Return<void, ApiError, Services> {
  for (const { at, dependency } of asked(request)) {
    yield* checkProducer(at, workspaceId, dependency)
    yield* checkReady(at, { workspace_id: workspaceId }, dependency)
  }
})

/** Returns the inputs that the dependencies fill. An input may have only one source. */
export const filledInputs = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  request: Asked,
  config: StoredConfig,
  values: VariableValues
): Effect.fn.Return<ReadonlySet<string>, ApiError, Services> {
  const filled = new Set<string>()
  const taken = new Set<string>()
  for (const { at, dependency } of asked(request)) {
    yield* checkProducer(at, workspaceId, dependency)
    yield* checkInputs(at, config.variables, taken, dependency)
    const twice = dependency.outputs.find(({ to }) => Object.hasOwn(values, to))
    if (twice !== undefined) {
      return yield* invalidRequest(`variables.${twice.to}: a dependency fills this input. Leave one of both out.`)
    }
    for (const name of yield* checkReady(at, { workspace_id: workspaceId }, dependency)) filled.add(name)
  }
  return filled
})

/** Inserts the dependencies in the transaction that creates the Capsule. */
export const insertDependencies = Effect.fnUntraced(function* (
  install: { readonly id: InstallPlanId; readonly workspace_id: WorkspaceId },
  request: Asked,
  capsuleId: CapsuleId
) {
  for (const { dependency, index } of asked(request)) {
    const id = derivedId(DependencyId, "dep", install.id, `dependency ${index}`)
    yield* insertDependency(id, { id: capsuleId, workspace_id: install.workspace_id }, dependency)
  }
})
