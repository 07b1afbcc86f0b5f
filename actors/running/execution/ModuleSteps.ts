import { Context } from "effect"
import type { ApplyJob, DriftJob, PlanJob } from "../../../runner/execution/RunJob.ts"
import type { ApplyOutcome, DriftOutcome, PlanOutcome } from "../../../runner/execution/RunOutcome.ts"
import type { RunSteps } from "./RunSteps.ts"

/**
 * The steps of the executions that run a module's tool. For its own Runs the control plane performs all three; for a Run of a
 * pool it performs `prepare` when the Run is offered and `settle` when its result has arrived, and an agent executes in between.
 */
export class ModuleSteps extends Context.Service<
  ModuleSteps,
  {
    readonly plan: RunSteps<PlanJob, PlanOutcome>
    readonly apply: RunSteps<ApplyJob, ApplyOutcome>
    readonly drift: RunSteps<DriftJob, DriftOutcome>
  }
>()("svc/actors/running/execution/ModuleSteps") {}
