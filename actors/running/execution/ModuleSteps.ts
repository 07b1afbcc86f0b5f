import { Context } from "effect"
import type { ApplyJob, DriftJob, PlanJob } from "../../../runner/execution/RunJob.ts"
import type { ApplyOutcome, DriftOutcome, PlanOutcome } from "../../../runner/execution/RunOutcome.ts"
import type { RunSteps } from "./RunSteps.ts"

/**
 * The steps of executions that run a module's tool. The control plane performs all three steps of a local Run. For a Run of a
 * pool, it performs `prepare` when it offers the Run, an agent performs `execute`, and the control plane performs `settle` when
 * the result arrives.
 */
export class ModuleSteps extends Context.Service<
  ModuleSteps,
  {
    readonly plan: RunSteps<PlanJob, PlanOutcome>
    readonly apply: RunSteps<ApplyJob, ApplyOutcome>
    readonly drift: RunSteps<DriftJob, DriftOutcome>
  }
>()("svc/actors/running/execution/ModuleSteps") {}
