import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { NewDependency } from "../../../schema/records/Capsule.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import type { DependencyId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import { CapsuleLedger } from "../capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../capsule/CapsuleRow.ts"
import { InstallConfigStore } from "../configuration/InstallConfigStore.ts"
import { privacyElsewhere, privacyReason, StateVersions } from "../state/StateVersions.ts"
import { isFillable } from "../configuration/VariableRules.ts"
import { now } from "../../base/Identity.ts"
import { activeShares, type Consumer, offersOf } from "../consumption/OfferedOutputs.ts"
import { DependencyOutputsJson, DependencyRow } from "../consumption/DependencyRow.ts"
import type { OutputRow } from "../state/StateVersionRow.ts"

const encodeOutputs = Schema.encodeEffect(DependencyOutputsJson)

const unknownProducer = (at: string) => invalidRequest(`${at}producerCapsuleId: the Workspace has no such Capsule.`)

const refusePrivate = (at: string, index: number, reason: string | undefined, name: string) =>
  invalidRequest(`${at}outputs[${index}].from: ${reason ?? `The Output ${name} is private.`}`)

/** Checks the requested Outputs. A producer in another Workspace is visible only through active shares. */
const checkOutputs = Effect.fnUntraced(function* (
  at: string,
  workspaceId: WorkspaceId,
  producer: GuardedCapsuleRow,
  { mode, outputs }: NewDependency
): Effect.fn.Return<void, ApiError, SqlClient.SqlClient | InstallConfigStore | StateVersions> {
  const states = yield* StateVersions
  const configs = yield* InstallConfigStore
  if (mode === "remote_state") {
    if (outputs.length > 0) {
      return yield* invalidRequest(`${at}outputs: a remote_state dependency only orders Capsules and injects nothing.`)
    }
    if (producer.workspace_id !== workspaceId) return yield* unknownProducer(at)
    return
  }
  if (outputs.length === 0) return yield* invalidRequest(`${at}outputs: name at least one Output.`)
  const applied = yield* states.outputs(producer.current_state_version_id)
  const withheld = new Map<string, OutputRow>(
    applied.flatMap((output) => (output.sensitive === 1 ? [[output.name, output]] : []))
  )
  if (producer.workspace_id !== workspaceId) {
    const shared = yield* activeShares(producer.id, workspaceId)
    if (shared.size === 0) return yield* unknownProducer(at)
    for (const [index, { from }] of outputs.entries()) {
      const share = shared.get(from)
      if (share === undefined) {
        return yield* failedPrecondition(
          `${at}outputs[${index}].from: no active share gives this Workspace that Output.`
        )
      }
      const held = withheld.get(share.name)
      if (held !== undefined) return yield* refusePrivate(at, index, privacyElsewhere(held, from), from)
    }
    return
  }
  const config = yield* configs.load(producer.install_config_id)
  for (const [index, { from }] of outputs.entries()) {
    const output = config?.config.outputs.find(({ name }) => name === from)
    if (output === undefined || output.ephemeral) {
      return yield* invalidRequest(`${at}outputs[${index}].from: the producing Capsule has no such Output.`)
    }
    if (output.sensitive && mode === "published_output") {
      return yield* invalidRequest(`${at}outputs[${index}].from: the Output is sensitive and therefore not published.`)
    }
    const held = mode === "published_output" ? withheld.get(from) : undefined
    if (held !== undefined) return yield* refusePrivate(at, index, privacyReason(held), from)
  }
})

/** Checks that the Workspace can see the producer and that the producer has the requested Outputs. Returns the producer. */
export const checkProducer = Effect.fn("Dependency.checkProducer")(function* (
  at: string,
  workspaceId: WorkspaceId,
  request: NewDependency
): Effect.fn.Return<
  GuardedCapsuleRow,
  ApiError,
  SqlClient.SqlClient | CapsuleLedger | InstallConfigStore | StateVersions
> {
  const capsules = yield* CapsuleLedger
  const producer = yield* capsules.find(request.producerCapsuleId)
  if (producer === undefined || isEnded(producer.status)) return yield* unknownProducer(at)
  yield* checkOutputs(at, workspaceId, producer, request)
  return producer
})

/** Checks that the module declares the inputs and that no other source fills them. Adds the inputs to `taken`. */
export const checkInputs = Effect.fnUntraced(function* (
  at: string,
  declared: ReadonlyArray<DeclaredVariable>,
  taken: Set<string>,
  { outputs }: NewDependency
): Effect.fn.Return<void, ApiError> {
  const inputs = new Map(declared.map((variable) => [variable.name, variable]))
  for (const [index, { to }] of outputs.entries()) {
    const input = inputs.get(to)
    if (input === undefined) return yield* invalidRequest(`${at}outputs[${index}].to: the Capsule has no such input.`)
    if (!isFillable(input)) {
      return yield* invalidRequest(`${at}outputs[${index}].to: the service fills this input itself.`)
    }
    if (taken.has(to)) {
      return yield* failedPrecondition(`${at}outputs[${index}].to: a dependency fills this input already.`)
    }
    taken.add(to)
  }
})

/**
 * Returns the current offer of each input that a dependency fills. Fails with `failed_precondition` if the producer has never
 * been applied or lacks a required Output.
 */
export const checkReady = Effect.fn("Dependency.checkReady")(function* (
  at: string,
  consumer: Pick<Consumer, "workspace_id">,
  request: NewDependency
): Effect.fn.Return<ReadonlyArray<string>, ApiError, SqlClient.SqlClient | StateVersions> {
  const { mode, outputs: wanted, producerCapsuleId } = request
  const offers = yield* Effect.orDie(offersOf(consumer, { dependencyId: undefined, mode, producerCapsuleId, wanted }))
  const filled: Array<string> = []
  for (const { given, input, output, producerName = "", required, stateVersionId, withheld } of offers) {
    if (stateVersionId === undefined) {
      return yield* failedPrecondition(
        `${at}producerCapsuleId: the Capsule ${producerName} was never applied. Apply it first.`
      )
    }
    if (input === undefined) continue
    if (given.length > 0) filled.push(input)
    else if (required) {
      return yield* failedPrecondition(
        `${at}outputs: the Capsule ${producerName} gives no ${output ?? ""}, which ${input} needs. ${withheld ?? "Its last apply left no such Output: apply it first."}`
      )
    }
  }
  return filled
})

/** Inserts the dependency. Runs in the caller's transaction. */
export const insertDependency = Effect.fn("Dependency.insert")(function* (
  id: DependencyId,
  consumer: Consumer,
  request: NewDependency
) {
  const sql = yield* SqlClient.SqlClient
  const row: DependencyRow = {
    id,
    workspace_id: consumer.workspace_id,
    producer_capsule_id: request.producerCapsuleId,
    consumer_capsule_id: consumer.id,
    mode: request.mode,
    outputs: yield* Effect.orDie(encodeOutputs(request.outputs)),
    created_at: yield* now
  }
  yield* Effect.orDie(sql`INSERT INTO dependencies ${DependencyRow.values(sql, row)}`)
  return row
})
