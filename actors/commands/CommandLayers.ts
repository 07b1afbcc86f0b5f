import { Layer } from "effect"
import { StateAdoption } from "./adoption/StateAdoption.ts"
import { StateReceipt } from "./adoption/StateReceipt.ts"
import { Attention } from "./attention/Attention.ts"
import { CapsuleExports } from "./capsule-export/CapsuleExports.ts"
import * as CapsuleActor from "./capsule/CapsuleActor.ts"
import { CapsuleBackups } from "./capsule/CapsuleBackups.ts"
import { CapsuleOrphanedStates } from "./capsule/CapsuleOrphanedStates.ts"
import { CapsuleRuns } from "./capsule/CapsuleRuns.ts"
import * as CapsulesLive from "./capsule/CapsulesLive.ts"
import { DeferredFollows } from "./capsule/DeferredFollows.ts"
import { DriftSchedule } from "./capsule/DriftSchedule.ts"
import { Handoffs } from "./handoff/Handoffs.ts"
import { SetupTickets } from "./handoff/SetupTickets.ts"
import { InitialCommit } from "./install-plan/InitialCommit.ts"
import * as InstallPlanActor from "./install-plan/InstallPlanActor.ts"
import { InstallPlanSteps } from "./install-plan/InstallPlanSteps.ts"
import { InstallPlanStore } from "./install-plan/InstallPlanStore.ts"
import * as InstallPlansLive from "./install-plan/InstallPlansLive.ts"
import * as PullRequestReporter from "./pull-request-report/PullRequestReporter.ts"
import { CommentLooks } from "./pull-request-report/CommentLooks.ts"
import { ReportFacts } from "./pull-request-report/ReportFacts.ts"
import * as PullRequestActor from "./pull-request/PullRequestActor.ts"
import { PullRequestLooks } from "./pull-request/PullRequestLooks.ts"
import * as PullRequestsLive from "./pull-request/PullRequestsLive.ts"
import { PullRequestReads } from "./pull-request/PullRequestReads.ts"
import { PullRequestSteps } from "./pull-request/PullRequestSteps.ts"
import * as RevisionPlanActor from "./revision-plan/RevisionPlanActor.ts"
import { RevisionPlanSteps } from "./revision-plan/RevisionPlanSteps.ts"
import { RevisionPlanStore } from "./revision-plan/RevisionPlanStore.ts"
import * as RevisionPlansLive from "./revision-plan/RevisionPlansLive.ts"
import * as RunActor from "./run/RunActor.ts"
import { RunComments } from "./run/RunComments.ts"
import * as RunStreamsLive from "./run/RunStreamsLive.ts"
import * as RunsLive from "./run/RunsLive.ts"
import * as SourceActor from "./source/SourceActor.ts"
import { SourceSchedule } from "./source/SourceSchedule.ts"
import * as SourcesLive from "./source/SourcesLive.ts"

const actors = Layer.mergeAll(
  CapsuleActor.layer,
  InstallPlanActor.layer,
  PullRequestActor.layer,
  RevisionPlanActor.layer,
  RunActor.layer,
  SourceActor.layer
).pipe(
  Layer.provide(
    Layer.mergeAll(InstallPlanSteps.layer, PullRequestLooks.layer, PullRequestSteps.layer, RevisionPlanSteps.layer)
  ),
  Layer.provide(InitialCommit.layer),
  Layer.provideMerge(Layer.mergeAll(CapsuleRuns.layer, RunComments.layer, StateAdoption.layer)),
  Layer.provideMerge(Layer.mergeAll(InstallPlanStore.layer, RevisionPlanStore.layer))
)

const services = Layer.mergeAll(
  CapsulesLive.layer,
  CapsuleOrphanedStates.layer,
  CapsuleBackups.layer,
  CapsuleExports.layer,
  Handoffs.layer.pipe(Layer.provideMerge(SetupTickets.layer)),
  InstallPlansLive.layer,
  PullRequestReads.layer.pipe(Layer.provideMerge(PullRequestsLive.layer)),
  Attention.layer.pipe(Layer.provideMerge(SourcesLive.layer)),
  RevisionPlansLive.layer,
  RunsLive.layer,
  RunStreamsLive.layer,
  StateReceipt.layer
)

const schedules = Layer.mergeAll(SourceSchedule.layer, DeferredFollows.layer, DriftSchedule.layer)

const reports = PullRequestReporter.layer.pipe(
  Layer.provide(PullRequestReporter.PullRequestReporter.layer.pipe(Layer.provide(ReportFacts.layer))),
  Layer.provide(CommentLooks.layer)
)

/** Layers for the commands that people, schedules and webhooks send, and for the reads that these commands need. */
export const commands = Layer.mergeAll(schedules, reports).pipe(
  Layer.provideMerge(services),
  Layer.provideMerge(actors)
)
