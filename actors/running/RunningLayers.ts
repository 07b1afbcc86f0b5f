import { Effect, Layer } from "effect"
import { RunFolders } from "../../runner/execution/RunFolders.ts"
import { KillPoint } from "../base/KillPoint.ts"
import { RunSettings } from "../ledger/run/RunSettings.ts"
import { pools } from "./agent-pool/PoolLayers.ts"
import { agents } from "./agent/AgentLayers.ts"
import { CarryOver } from "./carry-over/CarryOver.ts"
import { makeApplySteps } from "./execution/ApplySteps.ts"
import { ApplyRecovery } from "./execution/ApplyRecovery.ts"
import { ApplySettlement } from "./execution/ApplySettlement.ts"
import { ApplyStart } from "./execution/ApplyStart.ts"
import { makeBackupExecution } from "./execution/BackupExecution.ts"
import { makeCheckExecution } from "./execution/CheckExecution.ts"
import { makeDriftSteps } from "./execution/DriftExecution.ts"
import { DriftSettlement } from "./execution/DriftSettlement.ts"
import { ModuleSteps } from "./execution/ModuleSteps.ts"
import { OutdatedPlans } from "./execution/OutdatedPlans.ts"
import { makePlanSteps } from "./execution/PlanExecution.ts"
import { PlanSettlement } from "./execution/PlanSettlement.ts"
import { makeRestoreExecution } from "./execution/RestoreExecution.ts"
import { RunExecutions } from "./execution/RunExecution.ts"
import { RunExecutor } from "./execution/RunExecutor.ts"
import { RunHandover } from "./execution/RunHandover.ts"
import { BaseComparison } from "./execution/BaseComparison.ts"
import { RunInputs } from "./execution/RunInputs.ts"
import { RunPlans } from "./execution/RunPlans.ts"
import { RunPreparation } from "./execution/RunPreparation.ts"
import { RunRecovery } from "./execution/RunRecovery.ts"
import { inSteps } from "./execution/RunSteps.ts"
import { makeSyncExecution } from "./execution/SyncExecution.ts"
import { QueueRows } from "./queue/QueueRows.ts"
import { RunAdmission } from "./queue/RunAdmission.ts"
import { RunQueue } from "./queue/RunQueue.ts"
import { RunGroups } from "./run-group/RunGroups.ts"

const queue = Layer.mergeAll(RunQueue.layer, RunAdmission.layer).pipe(
  Layer.provideMerge(QueueRows.layer),
  Layer.provideMerge(pools)
)

/** Executes Runs on this machine, in their run folders. */
const place = Layer.unwrap(Effect.map(RunSettings, ({ runsFolder }) => RunFolders.layerAt(runsFolder)))

/** Services that finish a Run, given its rows and the result of its job. */
const settlements = Layer.mergeAll(
  PlanSettlement.layer.pipe(Layer.provide(CarryOver.layer)),
  ApplyStart.layer.pipe(Layer.provideMerge(ApplySettlement.layer)),
  DriftSettlement.layer
)

const moduleSteps = Layer.effect(
  ModuleSteps,
  Effect.gen(function* () {
    return ModuleSteps.of({
      plan: yield* makePlanSteps,
      apply: yield* makeApplySteps,
      drift: yield* makeDriftSteps
    })
  })
).pipe(Layer.provide(RunPreparation.layer.pipe(Layer.provide(BaseComparison.layer))))

const executions = Layer.effect(
  RunExecutions,
  Effect.gen(function* () {
    const steps = yield* ModuleSteps
    const killPoint = yield* KillPoint
    const plan = inSteps(steps.plan, killPoint)
    const apply = inSteps(steps.apply, killPoint)
    const backup = yield* makeBackupExecution
    return {
      source_sync: yield* makeSyncExecution,
      compatibility_check: yield* makeCheckExecution,
      plan,
      destroy_plan: plan,
      apply,
      destroy_apply: apply,
      drift_check: inSteps(steps.drift, killPoint),
      backup,
      restore: yield* makeRestoreExecution
    }
  })
)

/** Layers for the queue, and for executing Runs on the control plane and on agents. */
export const running = Layer.mergeAll(RunGroups.layer, RunRecovery.layer, OutdatedPlans.layer).pipe(
  Layer.provideMerge(RunExecutor.layer),
  Layer.provideMerge(agents),
  Layer.provideMerge(place),
  Layer.provide(executions),
  Layer.provide(moduleSteps),
  Layer.provideMerge(ApplyRecovery.layer),
  Layer.provideMerge(settlements),
  Layer.provideMerge(Layer.mergeAll(RunHandover.layer, RunInputs.layer)),
  Layer.provideMerge(RunPlans.layer),
  Layer.provideMerge(queue)
)
