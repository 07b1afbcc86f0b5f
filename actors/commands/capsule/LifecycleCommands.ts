import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { refuseConflictingRun } from "../../ledger/capsule/ConflictingRuns.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { CapsuleChange } from "../../../schema/records/Capsule.ts"
import { Subject } from "../../../schema/records/Ids.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { peopleBehind } from "../../access/account/PeopleBehind.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { Deliveries } from "../../inputs/delivery/Deliveries.ts"
import { InterfaceSettlement } from "../../ledger/interface/InterfaceSettlement.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { isPinned } from "../../ledger/capsule/AutoUpdatePins.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import {
  type AutoUpdateAuthors,
  AutoUpdateAuthorsJson,
  type GuardedCapsuleRow,
  toCapsule
} from "../../ledger/capsule/CapsuleRow.ts"
import { ConfigSuccession, guardMoved } from "../../ledger/configuration/ConfigSuccession.ts"
import { driftCheckChoice, resultingAutoUpdate, resultingStatus } from "./CapsuleSettings.ts"
import { followStanding, resumeFollowing } from "./LaneFollowing.ts"
import { createRun } from "./PlanCommands.ts"
import { contentOf, PathFilters } from "../../ledger/staleness/PathFilters.ts"
import { StaleReasons } from "../../ledger/staleness/StaleReasons.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"

type Load = Effect.Effect<GuardedCapsuleRow, ApiError, CapsuleLedger>

/** Compares the applied commit with the lane, before the transaction that enables the path filter. */
const prepareFilter = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow) {
  const sources = yield* SourceStore
  const filters = yield* PathFilters
  const { adopted_path: path, adopted_ref: ref } = capsule
  if (ref === null || path === null) return
  const newer = yield* sources.currentSnapshot(capsule.source_id, ref, path)
  if (newer !== undefined) yield* filters.prepare([capsule], contentOf(newer))
})

/**
 * Returns the authors of plans that auto-update creates from now on: the people who enabled it and who changed it last. If
 * an automation made the change, returns the people behind the automation instead.
 */
const autoUpdateAuthors = Effect.fnUntraced(function* (
  { auto_update_authors, auto_update_by, auto_update_enabled }: GuardedCapsuleRow,
  isEnabled: boolean,
  { actor }: CommandContext
): Effect.fn.Return<AutoUpdateAuthors, never, SqlClient.SqlClient> {
  const own = actor.subject === undefined ? [] : [Subject.make(actor.subject)]
  const changedBy = [...own, ...(yield* peopleBehind(actor))]
  if (!isEnabled || auto_update_enabled === 0) return { turnedOnBy: changedBy, changedBy }
  if (auto_update_authors !== null) return { ...AutoUpdateAuthorsJson.read(auto_update_authors), changedBy }
  return { turnedOnBy: auto_update_by === null ? [] : [Subject.make(auto_update_by)], changedBy }
})

/** Renames, enables or disables a Capsule, or changes its auto-update. */
export const updateCapsule = Effect.fnUntraced(function* (load: Load, context: CommandContext, request: CapsuleChange) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const ledger = yield* RunLedger
  const audit = yield* Audit
  const staleReasons = yield* StaleReasons
  if (request.pathFilter === true) yield* prepareFilter({ ...(yield* load), path_filter: 1 })
  return yield* Effect.gen(function* () {
    const capsule = yield* load
    if (isEnded(capsule.status)) return yield* failedPrecondition(`The Capsule is ${capsule.status}.`)
    const autoUpdate = yield* Effect.fromResult(resultingAutoUpdate(capsule, request.autoUpdate))
    if (request.name !== undefined && request.name !== capsule.name) {
      if (yield* capsules.nameTaken(capsule.project_id, request.name, capsule.environment)) {
        return yield* failedPrecondition("Another Capsule of this Project and environment has that name.")
      }
      yield* capsules.annotate(capsule.id, { name: request.name })
    }
    if (request.autoUpdate !== undefined) {
      const { apply, enabled, resume, resumeOnNewCommit } = request.autoUpdate
      const isSet = enabled !== undefined || apply !== undefined
      yield* capsules.annotate(capsule.id, {
        auto_update_enabled: autoUpdate.enabled ? 1 : 0,
        auto_update_apply: autoUpdate.apply ? 1 : 0,
        ...(isSet ? { auto_update_by: context.actor.subject ?? null } : {}),
        auto_update_authors: AutoUpdateAuthorsJson.write(
          yield* autoUpdateAuthors(capsule, autoUpdate.enabled, context)
        ),
        ...(resumeOnNewCommit === undefined || !isPinned(capsule)
          ? {}
          : { pin_ends_on_commit: resumeOnNewCommit ? 1 : 0 })
      })
      if (resume === true && isPinned(capsule)) yield* resumeFollowing(yield* load, context)
    }
    if (request.pathFilter !== undefined) {
      yield* capsules.annotate(capsule.id, { path_filter: request.pathFilter ? 1 : 0 })
      yield* staleReasons.compareCommit(capsule.id)
      yield* followStanding(yield* load)
    }
    if (request.driftChecks !== undefined) {
      yield* capsules.annotate(capsule.id, driftCheckChoice(request.driftChecks, context.actor.subject))
    }
    const status = yield* Effect.fromResult(resultingStatus(capsule, request.status))
    if (status !== undefined) {
      if (status === "disabled") yield* (yield* ConfigSuccession).idle(capsule)
      if (!(yield* capsules.fence(capsule, { status }))) return yield* guardMoved()
      // Catches up with the changes made while the Capsule was disabled.
      if (status === "active") yield* staleReasons.compare(capsule.id)
      if (status === "disabled") yield* ledger.supersedePlans(capsule.id, "The Capsule was disabled.")
    }
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: context.actor,
      action: "capsule.update",
      target: { kind: "capsule", id: capsule.id },
      capsuleId: capsule.id,
      data: { fields: Object.keys(request) },
      requestId: context.requestId
    })
    return yield* toCapsule(yield* load)
  }).pipe(transaction(sql))
})

/** Ends a Capsule that has never been applied, so that it needs no destroy plan. */
const removeUnapplied = Effect.fnUntraced(function* (load: Load, capsule: GuardedCapsuleRow, context: CommandContext) {
  const capsules = yield* CapsuleLedger
  const ledger = yield* RunLedger
  const audit = yield* Audit
  const deliveries = yield* Deliveries
  const interfaces = yield* InterfaceSettlement
  const staleReasons = yield* StaleReasons
  yield* refuseConflictingRun(capsule.id)
  if (!(yield* capsules.fence(capsule, { status: "destroyed" }))) return yield* guardMoved()
  yield* ledger.supersedePlans(capsule.id, "The Capsule was removed.")
  yield* staleReasons.producerMoved(capsule.id)
  yield* interfaces.destroyed(capsule.id)
  yield* deliveries.destroyed(capsule.id)
  yield* audit.append({
    workspaceId: capsule.workspace_id,
    actor: context.actor,
    action: "capsule.remove",
    target: { kind: "capsule", id: capsule.id },
    capsuleId: capsule.id,
    requestId: context.requestId
  })
  return { capsule: yield* toCapsule(yield* load) }
})

/** Removes a Capsule: immediately if it has never been applied, otherwise with a destroy plan. */
export const removeCapsule = Effect.fn("Capsule.remove")(function* (load: Load, context: CommandContext) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.gen(function* () {
    // Read inside the transaction, because a settlement may commit before the transaction begins.
    const capsule = yield* load
    if (capsule.current_state_version_id === null && capsule.runtime_safety === "safe") {
      return yield* removeUnapplied(load, capsule, context)
    }
    return { run: (yield* createRun(load, context, { type: "destroy_plan" }, undefined)).value }
  }).pipe(transaction(sql))
})
