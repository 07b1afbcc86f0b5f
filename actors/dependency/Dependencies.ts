import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition, invalidRequest, notFound } from "../../schema/errors/ApiError.ts"
import type { Dependency, DependencyMode, DependencyOutput } from "../../schema/records/Capsule.ts"
import { type CapsuleId, DependencyId } from "../../schema/records/Ids.ts"
import { Audit } from "../audit/Audit.ts"
import { CapsuleLedger } from "../capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../capsule/CapsuleRow.ts"
import { InstallConfigStore } from "../capsule/InstallConfigStore.ts"
import { isFillable } from "../capsule/VariableRules.ts"
import { StaleReasons } from "../capsule/StaleReasons.ts"
import { type OutputRow, privacyElsewhere, privacyReason, StateVersions } from "../capsule/StateVersions.ts"
import type { CommandContext } from "../Command.ts"
import { ReadSql } from "../database/ReadSql.ts"
import { transaction } from "../database/Transaction.ts"
import { newId, now } from "../Identity.ts"
import { activeShares } from "../output-share/SharedOutputs.ts"
import { Cursors } from "../paging/Cursors.ts"
import type { Page, PageRequest } from "../paging/Page.ts"
import { pageOfRows } from "../paging/RowPages.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { dependencyAdded, dependencyRemoved } from "./ConsumedOutputs.ts"
import { closesCycle, type DependencyEdge } from "./DependencyCycle.ts"
import { DependencyOutputsJson, type DependencyRow, toDependency } from "./DependencyRow.ts"

export interface NewDependency {
  readonly producerCapsuleId: string
  readonly mode: typeof DependencyMode.Type
  readonly outputs: ReadonlyArray<typeof DependencyOutput.Type>
}

const encodeOutputs = Schema.encodeEffect(DependencyOutputsJson)
const unknownProducer = () => invalidRequest("producerCapsuleId: the Workspace has no such Capsule.")

/** What flows from one Capsule's Outputs into another one's inputs, and therefore their order. */
export class Dependencies extends Context.Service<
  Dependencies,
  {
    /** Those that the Capsule takes part in, on either side. */
    readonly list: (capsuleId: CapsuleId, page: PageRequest) => Effect.Effect<Page<Dependency>, ApiError>
    /**
     * Fails with `failed_precondition` when it would close a circle, and with `invalid_request` for unknown names. Voids the
     * plans of the consumer that are not applied yet: they were made without it.
     */
    readonly create: (
      context: CommandContext,
      consumerCapsuleId: CapsuleId,
      request: NewDependency
    ) => Effect.Effect<Dependency, ApiError>
    /** Voids the plans of the consumer that are not applied yet, in the same transaction. */
    readonly remove: (context: CommandContext, id: DependencyId) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/dependency/Dependencies") {
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
  const states = yield* StateVersions
  const ledger = yield* RunLedger
  const staleReasons = yield* StaleReasons
  const random = yield* SecureRandom.SecureRandom

  const alive = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow | undefined, noun: string) {
    if (capsule === undefined) return yield* notFound(noun)
    if (capsule.status === "destroyed") return yield* failedPrecondition(`The ${noun} is destroyed.`)
    return capsule
  })

  const refusePrivate = (index: number, reason: string | undefined, name: string) =>
    invalidRequest(`outputs[${index}].from: ${reason ?? `The Output ${name} is private.`}`)

  /** A producer of another Workspace is known only as far as it shares something that is active. */
  const checkOutputs = Effect.fnUntraced(function* (
    consumer: GuardedCapsuleRow,
    producer: GuardedCapsuleRow,
    request: NewDependency
  ) {
    if (request.mode === "remote_state") {
      if (request.outputs.length > 0) {
        return yield* invalidRequest("outputs: a remote_state dependency only orders Capsules and injects nothing.")
      }
      if (producer.workspace_id !== consumer.workspace_id) return yield* unknownProducer()
      return
    }
    if (request.outputs.length === 0) return yield* invalidRequest("outputs: name at least one Output.")
    const applied = yield* states.outputs(producer.current_state_version_id ?? "")
    const withheld = new Map<string, OutputRow>(
      applied.flatMap((output) => (output.sensitive === 1 ? [[output.name, output]] : []))
    )
    if (producer.workspace_id !== consumer.workspace_id) {
      const shared = yield* activeShares(producer.id, consumer.workspace_id).pipe(
        Effect.provideService(SqlClient.SqlClient, sql)
      )
      if (shared.size === 0) return yield* unknownProducer()
      for (const [index, { from }] of request.outputs.entries()) {
        const share = shared.get(from)
        if (share === undefined) {
          return yield* failedPrecondition(`outputs[${index}].from: no active share gives this Workspace that Output.`)
        }
        const held = withheld.get(share.name)
        if (held !== undefined) return yield* refusePrivate(index, privacyElsewhere(held, from), from)
      }
      return
    }
    const config = yield* configs.load(producer.install_config_id)
    for (const [index, { from }] of request.outputs.entries()) {
      const output = config?.config.outputs.find(({ name }) => name === from)
      if (output === undefined || output.ephemeral) {
        return yield* invalidRequest(`outputs[${index}].from: the producing Capsule has no such Output.`)
      }
      if (output.sensitive && request.mode === "published_output") {
        return yield* invalidRequest(`outputs[${index}].from: the Output is sensitive and therefore not published.`)
      }
      const held = request.mode === "published_output" ? withheld.get(from) : undefined
      if (held !== undefined) return yield* refusePrivate(index, privacyReason(held), from)
    }
  })

  const checkInputs = Effect.fnUntraced(function* (consumer: GuardedCapsuleRow, request: NewDependency) {
    const config = yield* configs.load(consumer.install_config_id)
    const inputs = new Map((config?.config.variables ?? []).map((variable) => [variable.name, variable]))
    const taken = new Set<string>()
    const rows = yield* Effect.orDie(
      sql<DependencyRow>`SELECT * FROM dependencies WHERE consumer_capsule_id = ${consumer.id}`
    )
    for (const row of rows) for (const { to } of toDependency(row).outputs) taken.add(to)
    for (const [index, { to }] of request.outputs.entries()) {
      const input = inputs.get(to)
      if (input === undefined) return yield* invalidRequest(`outputs[${index}].to: the Capsule has no such input.`)
      if (!isFillable(input)) {
        return yield* invalidRequest(`outputs[${index}].to: the service fills this input itself.`)
      }
      if (taken.has(to))
        return yield* failedPrecondition(`outputs[${index}].to: a dependency fills this input already.`)
      taken.add(to)
    }
  })

  const create = Effect.fn("Dependencies.create")(function* (
    context: CommandContext,
    consumerCapsuleId: CapsuleId,
    request: NewDependency
  ) {
    const consumer = yield* alive(yield* capsules.find(consumerCapsuleId), "Capsule")
    const producer = yield* capsules.find(request.producerCapsuleId)
    if (producer === undefined || producer.status === "destroyed") return yield* unknownProducer()
    yield* checkOutputs(consumer, producer, request)
    // Every edge there is: a circle may lead through another Workspace.
    const edges = yield* Effect.orDie(sql<DependencyEdge>`SELECT producer_capsule_id AS producer,
        consumer_capsule_id AS consumer FROM dependencies`)
    if (closesCycle(edges, { producer: producer.id, consumer: consumer.id })) {
      return yield* failedPrecondition(
        "producerCapsuleId: that Capsule depends on this one, so neither could be first."
      )
    }
    yield* checkInputs(consumer, request)
    const id = yield* newId(DependencyId, "dep").pipe(Effect.provideService(SecureRandom.SecureRandom, random))
    const row: DependencyRow = {
      id,
      workspace_id: consumer.workspace_id,
      producer_capsule_id: producer.id,
      consumer_capsule_id: consumer.id,
      mode: request.mode,
      outputs: yield* Effect.orDie(encodeOutputs(request.outputs)),
      created_at: yield* now
    }
    yield* Effect.orDie(sql`INSERT INTO dependencies ${sql.insert({ ...row })}`)
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
    const [row] = yield* Effect.orDie(sql<DependencyRow>`DELETE FROM dependencies WHERE id = ${id} RETURNING *`)
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

  return Dependencies.of({
    create,
    remove,
    list: Effect.fn("Dependencies.list")(function* (capsuleId, page) {
      const list = {
        table: "dependencies",
        route: "dependencies.list",
        newestFirst: false,
        conditions: [
          read`(producer_capsule_id = ${capsuleId} OR consumer_capsule_id = ${capsuleId})`,
          // Who uses what another Workspace shares is that Workspace's own affair.
          read`workspace_id = (SELECT c.workspace_id FROM capsules c WHERE c.id = ${capsuleId})`
        ],
        filter: [capsuleId]
      }
      const rows = yield* pageOfRows<DependencyRow>(read, cursors, list, page)
      return { ...rows, items: rows.items.map(toDependency) }
    })
  })
})
