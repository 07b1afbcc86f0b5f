import { Context, Effect, Layer, Option, Redacted } from "effect"
import { stateToolProblem } from "../../../runner/execution/StateFit.ts"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { type CapsuleId, StateUploadId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import type { StateUpload } from "../../../schema/records/StateUpload.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext, IdempotentRequest, Replayable } from "../../../schema/commands/Command.ts"
import { OperatorConfigs } from "../../ledger/configuration/OperatorConfigs.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { StateUploads, toStateUpload } from "../../ledger/state/StateUploads.ts"
import type { Vault } from "../../base/vault/Vault.ts"
import { readableState } from "./AdoptableState.ts"
import { ManagedElsewhere } from "./ManagedElsewhere.ts"
import { type OpenedBackup, openSealedBackup } from "./SealedBackupFile.ts"
import { stateConflicts } from "./StateConflicts.ts"
import { providedService } from "../../base/Provided.ts"

/** An uploaded state, and the other data in its backup, if any. */
interface Given {
  readonly state: Redacted.Redacted<Uint8Array>
  readonly imported?: Omit<OpenedBackup, "state">
}

const retried = new ApiError({ code: "run_conflict", message: "The first such request has been forgotten. Try again." })

/** Receives states of existing infrastructure. */
export class StateReceipt extends Context.Service<
  StateReceipt,
  {
    /** Checks everything that does not depend on the module, and seals the state. */
    readonly receive: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      state: Redacted.Redacted<Uint8Array>,
      idempotency: IdempotentRequest
    ) => Effect.Effect<Replayable<StateUpload>, ApiError>
    /** Like `receive`, for the state of a Capsule in another installation's backup. */
    readonly receiveBackup: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      backup: { readonly file: Uint8Array; readonly capsuleId: CapsuleId | undefined },
      idempotency: IdempotentRequest
    ) => Effect.Effect<Replayable<StateUpload>, ApiError>
  }
>()("svc/actors/commands/adoption/StateReceipt") {
  static readonly layer = Layer.effect(
    StateReceipt,
    Effect.gen(function* () {
      const uploads = yield* StateUploads
      const receipts = yield* Receipts
      const toolchain = yield* Toolchain
      const operator = yield* OperatorConfigs
      const audit = yield* Audit
      const killPoint = yield* KillPoint

      /**
       * Fails if the available tool cannot read the state. If a profile requires a specific tool version, the plan performs
       * this check instead.
       */
      const toolProblem = Effect.fnUntraced(function* (toolVersion: string | undefined) {
        if (Object.values(operator.profiles).some(({ tool }) => tool?.version !== undefined)) return
        const tool = yield* Effect.option(toolchain.resolve())
        const message = Option.isNone(tool) ? undefined : stateToolProblem(toolVersion, tool.value)
        if (message !== undefined) return yield* new ApiError({ code: "state_newer", message })
      })

      const checkedState = Effect.fnUntraced(function* (
        workspaceId: WorkspaceId,
        bytes: Redacted.Redacted<Uint8Array>
      ) {
        const state = yield* readableState(Redacted.value(bytes))
        yield* toolProblem(state.toolVersion)
        const unindexed = yield* (yield* ManagedElsewhere).unindexed(workspaceId)
        const [conflict] = yield* stateConflicts(workspaceId, state, unindexed)
        return conflict === undefined ? state : yield* new ApiError(conflict)
      })

      const keep = Effect.fnUntraced(function* (
        context: CommandContext,
        workspaceId: WorkspaceId,
        given: Effect.Effect<Given, ApiError, Vault>,
        { idempotency, route }: { readonly idempotency: IdempotentRequest; readonly route: string }
      ) {
        const scope = { scope: workspaceId, actor: context.actorKey, route }
        const read = Effect.flatMap(given, (upload) =>
          Effect.map(checkedState(workspaceId, upload.state), (state) => ({ ...state, ...upload }))
        )
        // Performs the check before the transaction, because it may be slow; the install repeats it. If the request is a
        // repeated one, the check is skipped.
        const isRepeated = Option.isSome(yield* receipts.lookup(scope, idempotency))
        const checked = isRepeated ? undefined : yield* read
        const create = Effect.gen(function* () {
          // The request's receipt existed when it was looked up, but has expired since.
          if (checked === undefined) return yield* retried
          const { imported, lineage, resourceCount, serial, state, toolVersion } = checked
          const row = yield* uploads.insert({
            workspaceId,
            state,
            lineage,
            serial,
            resourceCount,
            toolVersion,
            createdBy: context.actor.subject,
            imported
          })
          yield* audit.append({
            workspaceId,
            actor: context.actor,
            action: imported === undefined ? "state_upload.create" : "backup_upload.create",
            target: { kind: "state_upload", id: row.id },
            data: {
              sha256: row.sha256,
              sizeBytes: row.size_bytes,
              serial,
              resources: resourceCount,
              ...(imported === undefined
                ? {}
                : { backupId: imported.from.backupId, capsuleId: imported.from.capsuleId })
            },
            requestId: context.requestId
          })
          yield* killPoint("state_upload.storing")
          return { value: toStateUpload(row), receipt: { resultId: row.id, firstStatus: 201 } }
        })
        const received = yield* receipts.once(scope, idempotency, {
          create,
          replay: ({ resultId }) =>
            Effect.flatMap(uploads.find(StateUploadId.make(resultId)), (row) =>
              row === undefined ? notFound("State upload") : Effect.succeed(toStateUpload(row))
            )
        })
        yield* killPoint("state_upload.stored")
        return received
      })

      return yield* providedService(StateReceipt, {
        receive: Effect.fn("StateReceipt.receive")((context, workspaceId, state, idempotency) =>
          keep(context, workspaceId, Effect.succeed({ state }), { idempotency, route: "stateUploads.create" })
        ),
        receiveBackup: Effect.fn("StateReceipt.receiveBackup")(
          (context, workspaceId, { capsuleId, file }, idempotency) =>
            keep(
              context,
              workspaceId,
              Effect.map(openSealedBackup(file, capsuleId), ({ state, ...imported }) => ({ state, imported })),
              { idempotency, route: "backupImports.upload" }
            )
        )
      })
    })
  )
}
