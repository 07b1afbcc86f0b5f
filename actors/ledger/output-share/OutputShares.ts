import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { type CapsuleId, OutputShareId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { OutputShare, SharedOutput } from "../../../schema/records/OutputShare.ts"
import { Audit, type AuditData } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../capsule/CapsuleRow.ts"
import { InstallConfigStore } from "../configuration/InstallConfigStore.ts"
import { StaleReasons } from "../staleness/StaleReasons.ts"
import { privacyElsewhere, privacyReason, StateVersions } from "../state/StateVersions.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { shareRevoked } from "../consumption/ConsumedOutputs.ts"
import { newId, now } from "../../base/Identity.ts"
import { writeNotice } from "../../base/notice/Notices.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { type Page, pageOfRows, type PageRequest } from "../../base/paging/RowPages.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { present } from "../run/RunRow.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { OutputShareRow } from "./OutputShareRow.ts"
import { storedJson, storedRecord } from "../../base/database/StoredRecord.ts"

export interface NewOutputShare {
  readonly fromWorkspaceId: WorkspaceId
  readonly toWorkspaceId: WorkspaceId
  readonly producerCapsuleId: CapsuleId
  readonly outputs: ReadonlyArray<typeof SharedOutput.Type>
}

const OutputsJson = Schema.fromJsonString(Schema.Array(SharedOutput))
const encodeOutputs = Schema.encodeEffect(OutputsJson)
const decodeOutputs = storedJson(Schema.Array(SharedOutput))
const decodeShare = storedRecord(OutputShare)

const toShare = (row: OutputShareRow): OutputShare =>
  decodeShare({
    id: row.id,
    fromWorkspaceId: row.from_workspace_id,
    toWorkspaceId: row.to_workspace_id,
    producerCapsuleId: row.producer_capsule_id,
    outputs: decodeOutputs(row.outputs),
    status: row.status,
    createdAt: row.created_at,
    ...present({ approvedAt: row.approved_at, revokedAt: row.revoked_at })
  })

const namePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/

/** Shares of public Outputs between Workspaces. A share has no effect until the receiving Workspace accepts it. */
export class OutputShares extends Context.Service<
  OutputShares,
  {
    /** Lists the shares that the Workspace offers or receives. */
    readonly list: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<OutputShare>, ApiError>
    /**
     * Creates a share. Called by the producing Workspace. Only Outputs that the module declares as neither sensitive nor
     * ephemeral can be shared.
     */
    readonly create: (context: CommandContext, request: NewOutputShare) => Effect.Effect<OutputShare, ApiError>
    /**
     * Accepts a share. Called by the receiving Workspace. `actingWorkspaceId` is the Workspace for which the caller was
     * authorised.
     */
    readonly approve: (
      context: CommandContext,
      id: OutputShareId,
      actingWorkspaceId: WorkspaceId
    ) => Effect.Effect<OutputShare, ApiError>
    /**
     * Revokes a share, which either Workspace may do at any time. Voids the unapplied plans that used the share, in the same
     * transaction.
     */
    readonly revoke: (
      context: CommandContext,
      id: OutputShareId,
      actingWorkspaceId: WorkspaceId
    ) => Effect.Effect<OutputShare, ApiError>
  }
>()("svc/actors/ledger/output-share/OutputShares") {
  static readonly layer = Layer.effect(
    OutputShares,
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
  const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

  const load = Effect.fnUntraced(function* (id: OutputShareId) {
    const [row] = yield* Effect.orDie(OutputShareRow.rows(sql)`SELECT * FROM output_shares WHERE id = ${id}`)
    return row === undefined ? yield* notFound("OutputShare") : row
  })

  /** Writes the outcome to the audit history of both Workspaces. */
  const audited = Effect.fnUntraced(function* (
    context: CommandContext,
    row: OutputShareRow,
    action: string,
    received: AuditData = {}
  ) {
    for (const workspaceId of [row.from_workspace_id, row.to_workspace_id]) {
      yield* audit.append({
        workspaceId,
        actor: context.actor,
        action,
        target: { kind: "output_share", id: row.id },
        data: {
          fromWorkspaceId: row.from_workspace_id,
          toWorkspaceId: row.to_workspace_id,
          outputs: decodeOutputs(row.outputs).map(({ name }) => name),
          // Only the receiving Workspace may see which of its plans used the share.
          ...(workspaceId === row.to_workspace_id ? received : {})
        },
        requestId: context.requestId
      })
    }
  })

  const checkOutputs = Effect.fnUntraced(function* (producer: GuardedCapsuleRow, request: NewOutputShare) {
    const config = yield* configs.load(producer.install_config_id)
    const applied = yield* states.outputs(producer.current_state_version_id)
    const taken = new Set<string>()
    for (const [index, { alias, name }] of request.outputs.entries()) {
      const output = config?.config.outputs.find((candidate) => candidate.name === name)
      if (output === undefined || output.sensitive || output.ephemeral) {
        return yield* invalidRequest(`outputs[${index}].name: the Capsule has no such public Output.`)
      }
      const held = applied.find((candidate) => candidate.name === name && candidate.sensitive === 1)
      if (held !== undefined) {
        return yield* invalidRequest(
          `outputs[${index}].name: ${privacyReason(held) ?? `The Output ${name} is private.`}`
        )
      }
      if (alias !== undefined && !namePattern.test(alias)) {
        return yield* invalidRequest(`outputs[${index}].alias: expected a name such as an Output has.`)
      }
      if (taken.has(alias ?? name)) return yield* invalidRequest(`outputs[${index}]: shared twice under one name.`)
      taken.add(alias ?? name)
    }
  })

  const create = Effect.fn("OutputShares.create")(function* (context: CommandContext, request: NewOutputShare) {
    if (request.fromWorkspaceId === request.toWorkspaceId) {
      return yield* invalidRequest("toWorkspaceId: within one Workspace nothing needs to be shared; add a dependency.")
    }
    const capsule = yield* capsules.find(request.producerCapsuleId)
    if (capsule === undefined || capsule.workspace_id !== request.fromWorkspaceId || isEnded(capsule.status)) {
      return yield* invalidRequest("producerCapsuleId: the Workspace has no such Capsule.")
    }
    const receiver = yield* Effect.orDie(sql`SELECT id FROM workspaces WHERE id = ${request.toWorkspaceId}`)
    if (receiver.length === 0) return yield* invalidRequest("toWorkspaceId: there is no such Workspace.")
    yield* checkOutputs(capsule, request)
    const id = yield* newId(OutputShareId, "oshare").pipe(withRandom)
    yield* Effect.orDie(
      sql`INSERT INTO output_shares ${OutputShareRow.values(sql, {
        id,
        from_workspace_id: request.fromWorkspaceId,
        to_workspace_id: request.toWorkspaceId,
        producer_capsule_id: request.producerCapsuleId,
        outputs: yield* Effect.orDie(encodeOutputs(request.outputs)),
        status: "pending",
        created_at: yield* now
      })}`
    )
    const row = yield* load(id)
    yield* audited(context, row, "output_share.create")
    yield* writeNotice(
      sql,
      "share.requested",
      Effect.succeed({
        workspaceId: row.to_workspace_id,
        subject: { kind: "share" as const, id },
        path: "settings/shares",
        data: {
          share: id,
          fromWorkspaceId: row.from_workspace_id,
          toWorkspaceId: row.to_workspace_id,
          outputs: request.outputs.length
        }
      })
    )
    return toShare(row)
  }, transaction(sql))

  /** Checks that the Outputs are still public and that the Capsule still exists. Otherwise the share provides nothing. */
  const stillOffered = Effect.fnUntraced(function* (row: OutputShareRow) {
    const producer = yield* capsules.find(row.producer_capsule_id)
    if (producer === undefined || isEnded(producer.status)) {
      return yield* failedPrecondition(
        `The Capsule that shares these Outputs was ${producer?.status ?? "removed"}. Revoke the share.`
      )
    }
    const config = yield* configs.load(producer.install_config_id)
    const applied = yield* states.outputs(producer.current_state_version_id)
    for (const [index, { alias, name }] of decodeOutputs(row.outputs).entries()) {
      const shown = alias ?? name
      const declared = config?.config.outputs.find((candidate) => candidate.name === name)
      const held = applied.find((candidate) => candidate.name === name && candidate.sensitive === 1)
      if (held === undefined && declared?.sensitive !== true) continue
      const why =
        (held === undefined ? undefined : privacyElsewhere(held, shown)) ??
        `The Output ${shown} is private: its module declares it sensitive.`
      return yield* failedPrecondition(
        `outputs[${index}]: ${why} It was public when it was offered. Ask the other Workspace for a new share.`
      )
    }
  })

  const approve = Effect.fn("OutputShares.approve")(function* (
    context: CommandContext,
    id: OutputShareId,
    actingWorkspaceId: WorkspaceId
  ) {
    const row = yield* load(id)
    if (row.to_workspace_id !== actingWorkspaceId) {
      return yield* new ApiError({
        code: "permission_denied",
        message: "Only an admin of the receiving Workspace approves a share."
      })
    }
    if (row.status === "pending") yield* stillOffered(row)
    const moved = yield* Effect.orDie(sql`UPDATE output_shares
      SET ${OutputShareRow.changes(sql, { status: "active", approved_at: yield* now })}
      WHERE id = ${id} AND status = 'pending' RETURNING id`)
    if (moved.length === 0) return yield* failedPrecondition(`The share is ${row.status} and cannot be approved.`)
    yield* staleReasons.producerMoved(row.producer_capsule_id)
    yield* audited(context, row, "output_share.approve")
    return toShare(yield* load(id))
  }, transaction(sql))

  const revoke = Effect.fn("OutputShares.revoke")(function* (
    context: CommandContext,
    id: OutputShareId,
    actingWorkspaceId: WorkspaceId
  ) {
    const row = yield* load(id)
    if (row.to_workspace_id !== actingWorkspaceId && row.from_workspace_id !== actingWorkspaceId) {
      return yield* new ApiError({ code: "permission_denied", message: "The share is between other Workspaces." })
    }
    const moved = yield* Effect.orDie(sql`UPDATE output_shares
      SET ${OutputShareRow.changes(sql, { status: "revoked", revoked_at: yield* now })}
      WHERE id = ${id} AND status <> 'revoked' RETURNING id`)
    if (moved.length === 0) return yield* failedPrecondition("The share is revoked already.")
    const supersededRunIds = yield* ledger.supersedeConsumers(id, shareRevoked)
    yield* staleReasons.producerMoved(row.producer_capsule_id)
    yield* audited(context, row, "output_share.revoke", { supersededRunIds })
    return toShare(yield* load(id))
  }, transaction(sql))

  return OutputShares.of({
    create,
    approve,
    revoke,
    list: Effect.fn("OutputShares.list")(function* (workspaceId, page) {
      const list = {
        route: "outputShares.list",
        newestFirst: false,
        conditions: [read`(from_workspace_id = ${workspaceId} OR to_workspace_id = ${workspaceId})`],
        filter: [workspaceId]
      }
      const rows = yield* pageOfRows(OutputShareRow, read, cursors, list, page)
      return { ...rows, items: rows.items.map(toShare) }
    })
  })
})
