import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import type { Dependency, NewDependency } from "../../../schema/records/Capsule.ts"
import { type CapsuleId, DependencyId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../capsule/CapsuleRow.ts"
import { InstallConfigStore } from "../configuration/InstallConfigStore.ts"
import { StaleReasons } from "../staleness/StaleReasons.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId } from "../../base/Identity.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { type Page, pageOfRows, type PageRequest } from "../../base/paging/RowPages.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { dependencyAdded, dependencyRemoved } from "../consumption/ConsumedOutputs.ts"
import { checkInputs, checkProducer, insertDependency } from "./DependencyRules.ts"
import { closesCycle } from "./DependencyCycle.ts"
import { DependencyEdgeRow, DependencyRow, toDependency } from "../consumption/DependencyRow.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { providedService } from "../../base/Provided.ts"

/**
 * Manages dependencies, which pass Outputs of one Capsule to inputs of another and thereby determine the order of the
 * Capsules.
 */
export class Dependencies extends Context.Service<
  Dependencies,
  {
    /** Lists the dependencies in which the Capsule is the consumer or the producer. */
    readonly list: (capsuleId: CapsuleId, page: PageRequest) => Effect.Effect<Page<Dependency>, ApiError>
    /**
     * Creates a dependency and voids the consumer's unapplied plans, because those plans were created without the
     * dependency. Fails with `failed_precondition` if the dependency would close a cycle, and with `invalid_request` for
     * unknown names.
     */
    readonly create: (
      context: CommandContext,
      consumerCapsuleId: CapsuleId,
      request: NewDependency
    ) => Effect.Effect<Dependency, ApiError>
    /** Removes a dependency. Also voids the consumer's unapplied plans, in the same transaction. */
    readonly remove: (context: CommandContext, id: DependencyId) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/ledger/dependency/Dependencies") {
  static readonly layer = Layer.effect(
    Dependencies,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  const cursors = yield* Cursors
  const audit = yield* Audit
  const capsules = yield* CapsuleLedger
  const configs = yield* InstallConfigStore
  const ledger = yield* RunLedger
  const staleReasons = yield* StaleReasons
  const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

  const alive = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow | undefined, noun: string) {
    if (capsule === undefined) return yield* notFound(noun)
    if (isEnded(capsule.status)) return yield* failedPrecondition(`The ${noun} is ${capsule.status}.`)
    return capsule
  })

  const create = Effect.fn("Dependencies.create")(function* (
    context: CommandContext,
    consumerCapsuleId: CapsuleId,
    request: NewDependency
  ) {
    const consumer = yield* alive(yield* capsules.find(consumerCapsuleId), "Capsule")
    const producer = yield* checkProducer("", consumer.workspace_id, request)
    // Loads all edges, because a cycle may pass through another Workspace.
    const edges = yield* Effect.orDie(DependencyEdgeRow.rows(sql)`SELECT producer_capsule_id AS producer,
        consumer_capsule_id AS consumer FROM dependencies`)
    if (closesCycle(edges, { producer: producer.id, consumer: consumer.id })) {
      return yield* failedPrecondition(
        "producerCapsuleId: that Capsule depends on this one, so neither could be first."
      )
    }
    const config = yield* configs.load(consumer.install_config_id)
    const rows = yield* Effect.orDie(
      DependencyRow.rows(sql)`SELECT * FROM dependencies WHERE consumer_capsule_id = ${consumer.id}`
    )
    const taken = new Set(rows.flatMap((row) => toDependency(row).outputs.map(({ to }) => to)))
    yield* checkInputs("", config?.config.variables ?? [], taken, request)
    const id = yield* newId(DependencyId, "dep").pipe(withRandom)
    const row = yield* insertDependency(id, consumer, request)
    const supersededRunIds = yield* ledger.supersedePlans(consumer.id, dependencyAdded)
    yield* staleReasons.compare(consumer.id)
    yield* audit.append({
      workspaceId: consumer.workspace_id,
      actor: context.actor,
      action: "dependency.create",
      target: { kind: "dependency", id },
      capsuleId: consumer.id,
      data: {
        producerCapsuleId: producer.id,
        mode: request.mode,
        inputs: request.outputs.map(({ to }) => to),
        supersededRunIds
      },
      requestId: context.requestId
    })
    return toDependency(row)
  }, transaction(sql))

  const remove = Effect.fn("Dependencies.remove")(function* (context: CommandContext, id: DependencyId) {
    const [row] = yield* Effect.orDie(DependencyRow.rows(sql)`DELETE FROM dependencies WHERE id = ${id} RETURNING *`)
    if (row === undefined) return yield* notFound("Dependency")
    const supersededRunIds = yield* ledger.supersedePlans(row.consumer_capsule_id, dependencyRemoved)
    yield* staleReasons.compare(row.consumer_capsule_id)
    yield* audit.append({
      workspaceId: row.workspace_id,
      actor: context.actor,
      action: "dependency.remove",
      target: { kind: "dependency", id },
      capsuleId: row.consumer_capsule_id,
      data: { producerCapsuleId: row.producer_capsule_id, mode: row.mode, supersededRunIds },
      requestId: context.requestId
    })
  }, transaction(sql))

  return yield* providedService(Dependencies, {
    create,
    remove,
    list: Effect.fn("Dependencies.list")(function* (capsuleId, page) {
      const list = {
        route: "dependencies.list",
        newestFirst: false,
        conditions: [
          read`(producer_capsule_id = ${capsuleId} OR consumer_capsule_id = ${capsuleId})`,
          // Hides consumers in other Workspaces: the producing Workspace must not see which Capsules of another Workspace
          // consume its share.
          read`workspace_id = (SELECT c.workspace_id FROM capsules c WHERE c.id = ${capsuleId})`
        ],
        filter: [capsuleId]
      }
      const rows = yield* pageOfRows(DependencyRow, read, cursors, list, page)
      return { ...rows, items: rows.items.map(toDependency) }
    })
  })
})
