import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition, invalidRequest } from "../../schema/errors/ApiError.ts"
import type { CommandContext } from "../../schema/protocol/Command.ts"
import { Audit } from "../audit/Audit.ts"
import { CapsuleLedger } from "../authority/CapsuleLedger.ts"
import { awaitsOriginal, type GuardedCapsuleRow, toCapsule } from "../authority/CapsuleRow.ts"
import { transaction } from "../database/Transaction.ts"
import { now } from "../Identity.ts"
import { KillPoint } from "../KillPoint.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { RunQueue } from "../queue/RunQueue.ts"
import { toRun } from "../run/RunRow.ts"
import { StateVersions } from "../state/StateVersions.ts"
import { guardMoved } from "../succession/ConfigSuccession.ts"
import { CapsuleRuns } from "./CapsuleRuns.ts"

/**
 * An owner confirms that the original of an imported Capsule no longer manages it: the Capsule is enabled and gets its first plan,
 * in one transaction.
 */
export const confirmImport = Effect.fn("Capsule.confirmImport")(function* (
  load: Effect.Effect<GuardedCapsuleRow, ApiError>,
  context: CommandContext,
  confirm: string
) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const states = yield* StateVersions
  const runs = yield* CapsuleRuns
  const ledger = yield* RunLedger
  const queue = yield* RunQueue
  const audit = yield* Audit
  const killPoint = yield* KillPoint
  const confirmed = yield* Effect.gen(function* () {
    const capsule = yield* load
    if (capsule.imported_from === null) {
      return yield* failedPrecondition("The Capsule was not imported, so there is nothing to confirm.")
    }
    if (!awaitsOriginal(capsule)) {
      return yield* failedPrecondition("Nothing to confirm: that was done already, or the Capsule has ended.")
    }
    if (confirm !== capsule.name) {
      return yield* invalidRequest("confirm: expected the name of the Capsule, exactly as it is written.")
    }
    const by = context.actor.subject
    const enabled = yield* capsules.fence(capsule, {
      status: "pending",
      import_confirmed_at: yield* now,
      import_confirmed_by: by ?? null
    })
    if (!enabled) return yield* guardMoved()
    // The plan that its first state names as its origin.
    const version = yield* states.find(capsule.current_state_version_id)
    if (version === undefined) return yield* Effect.die(new Error(`The imported state of ${capsule.id} is gone`))
    const runId = version.created_by_run_id
    yield* runs.create(yield* load, { runId, type: "plan", trigger: "user", createdBy: by })
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: context.actor,
      action: "capsule.confirm_import",
      target: { kind: "capsule", id: capsule.id },
      capsuleId: capsule.id,
      runId,
      data: { importedFrom: capsule.imported_from },
      requestId: context.requestId
    })
    yield* killPoint("import.confirming")
    const run = yield* ledger.find(runId)
    if (run === undefined) return yield* Effect.die(new Error(`The Run ${runId} vanished inside its own transaction`))
    return { capsule: yield* toCapsule(yield* load), run: toRun(run, yield* queue.place(run)) }
  }).pipe(transaction(sql))
  yield* killPoint("import.confirmed")
  return confirmed
})
