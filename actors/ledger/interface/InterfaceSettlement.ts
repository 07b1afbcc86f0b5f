import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { inParts } from "../../base/database/RowParts.ts"
import type { InstallConfigStore } from "../configuration/InstallConfigStore.ts"
import { DueWork } from "../../base/DueWork.ts"
import { derivedId, now } from "../../base/Identity.ts"
import { InterfaceLedger } from "./InterfaceLedger.ts"
import { IntentRow } from "./InterfaceRow.ts"
import type { CapsuleId, RunId, StateVersionId, WorkspaceId } from "../../../schema/records/Ids.ts"

type Config = NonNullable<Effect.Success<ReturnType<InstallConfigStore["Service"]["load"]>>>

/** The part of a successful apply's result that Interfaces need. */
export interface AppliedCapsule {
  readonly runId: RunId
  readonly capsule: { readonly id: CapsuleId; readonly workspace_id: WorkspaceId }
  readonly stateVersionId: StateVersionId
  readonly config: Config
}

/**
 * Updates the Interfaces of a Capsule in the transaction that settles its apply or destroy. An apply records intents for the
 * Interface actor; a destroy retires the Interfaces immediately.
 */
export class InterfaceSettlement extends Context.Service<
  InterfaceSettlement,
  {
    readonly applied: (applied: AppliedCapsule) => Effect.Effect<void>
    readonly destroyed: (capsuleId: CapsuleId) => Effect.Effect<void>
  }
>()("svc/actors/ledger/interface/InterfaceSettlement") {
  static readonly layer = Layer.effect(
    InterfaceSettlement,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* InterfaceLedger
      const due = yield* DueWork

      /** Marks pending intents of earlier applies as superseded. */
      const supersede = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
        yield* sql`UPDATE interface_intents SET ${IntentRow.changes(sql, { status: "superseded", updated_at: yield* now })}
          WHERE capsule_id = ${capsuleId} AND status IN ('pending', 'failed')`
      }, Effect.orDie)

      const applied = Effect.fn("InterfaceSettlement.applied")(function* ({
        capsule,
        config,
        runId,
        stateVersionId
      }: AppliedCapsule) {
        const blueprints = config.config.compiled.interfaceBlueprints
        yield* supersede(capsule.id)
        const present = yield* ledger.ofCapsule(capsule.id)
        const gone = present.filter(
          (row) => row.status !== "retired" && !blueprints.some(({ key }) => key === row.interface_key)
        )
        yield* ledger.retire(gone.map(({ id }) => id))
        const at = yield* now
        for (const blueprint of blueprints) yield* ledger.announce(capsule, blueprint)
        const intents = blueprints.map(({ key }) => ({
          id: derivedId(Schema.String, "intent", runId, key),
          workspace_id: capsule.workspace_id,
          capsule_id: capsule.id,
          interface_key: key,
          run_id: runId,
          install_config_id: config.row.id,
          state_version_id: stateVersionId,
          status: "pending" as const,
          attempt: 1,
          created_at: at,
          updated_at: at
        }))
        yield* inParts(intents, (some) => sql`INSERT INTO interface_intents ${IntentRow.several(sql, some)}`)
        yield* sql.afterCommit(due.wake)
      }, Effect.orDie)

      const destroyed = Effect.fn("InterfaceSettlement.destroyed")(function* (capsuleId: CapsuleId) {
        yield* supersede(capsuleId)
        const present = yield* ledger.ofCapsule(capsuleId)
        yield* ledger.retire(present.map(({ id }) => id))
      })

      return InterfaceSettlement.of({ applied, destroyed })
    })
  )
}
