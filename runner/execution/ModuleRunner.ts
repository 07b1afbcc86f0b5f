import { Context, Effect, Layer, type Option } from "effect"
import type { RunConfinement } from "../../schema/records/Run.ts"
import type { RunRequirements } from "../sandbox/RunRequirements.ts"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { executeApply } from "./ApplyExecution.ts"
import { Redaction } from "../redaction/Redaction.ts"
import type { SecretText } from "../redaction/SecretText.ts"
import { endProcessesOfRun } from "./OrphanedProcesses.ts"
import { withheldOutputs } from "./OutputPrivacy.ts"
import { executeDriftCheck, executePlan } from "./PlanExecution.ts"
import { clearProviderStore } from "./ProviderStore.ts"
import { recoverApply } from "./Recovery.ts"
import { type RunFileFailed, removeTree } from "./RunFiles.ts"
import type { ApplyJob, DriftJob, PlanJob, RunJob } from "./RunJob.ts"
import { type RunnerFailure, runnerFailure } from "./RunnerFailure.ts"
import { RunnerSettings } from "./RunnerSettings.ts"
import type { ApplyOutcome, DriftOutcome, LeftOver, PlanOutcome, StateOutput } from "./RunOutcome.ts"
import { type RunControl, RunPlace } from "./RunPlace.ts"
import { type ConcealingControl, serverPaths, shownFailure } from "./ServerPaths.ts"
import { removeStablePath, StablePaths } from "./StablePaths.ts"

/**
 * Executes plans and applies of one module with OpenTofu or Terraform, inside the sandbox, in a run folder of its own.
 *
 * - `plan`: computes a reviewable plan (to create, update or destroy). Fails with `RunnerFailure` if there is none, even if it
 *   was cancelled. Afterwards inputs and tree are removed from disk; a build archive is kept.
 * - `apply`: applies exactly the reviewed plan file, with the reviewed lock and build. A `RunnerFailure` means that the tool was
 *   not started and nothing was changed; everything else is an `ApplyOutcome`, whose state must be imported however the apply
 *   ended. A run folder serves one apply: a second start is refused.
 * - `driftCheck`: compares the state with the real objects.
 * - `recover`: after a crash of the service, finds the state that an apply left in a run folder; `none` if its tool was never
 *   started. Kills processes that are still working in the folder. Repeatable.
 * - `withhold`: marks the Outputs that repeat a secret, for an apply whose end was not observed.
 * - `confinement`: the isolation and the network of a Run's module with these requirements. Fails with `profile_unavailable` if
 *   this machine cannot satisfy them.
 * - `discard`: removes a run folder whose state is stored elsewhere, and kills processes in it.
 *
 * Interrupting an effect kills its sandbox; for a graceful stop, use `cancelRequested`.
 */
export class ModuleRunner extends Context.Service<
  ModuleRunner,
  {
    readonly confinement: (requirements: RunRequirements | undefined) => Effect.Effect<RunConfinement, RunnerFailure>
    readonly plan: (job: PlanJob, control: RunControl) => Effect.Effect<PlanOutcome, RunnerFailure>
    readonly apply: (job: ApplyJob, control: RunControl) => Effect.Effect<ApplyOutcome, RunnerFailure>
    readonly driftCheck: (job: DriftJob, control: RunControl) => Effect.Effect<DriftOutcome, RunnerFailure>
    readonly recover: (runFolder: string) => Effect.Effect<Option.Option<LeftOver>, RunFileFailed>
    readonly withhold: (
      outputs: ReadonlyArray<StateOutput>,
      secrets: ReadonlyArray<SecretText>
    ) => Effect.Effect<ReadonlyArray<StateOutput>>
    readonly discard: (runFolder: string) => Effect.Effect<void, RunFileFailed>
  }
>()("svc/runner/execution/ModuleRunner") {
  static readonly layer = Layer.effect(
    ModuleRunner,
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const redaction = yield* Redaction
      const settings = yield* RunnerSettings
      const place = yield* RunPlace
      const stable = yield* StablePaths
      if (settings.providerCache !== undefined) yield* clearProviderStore(settings.providerCache)

      /** Neither a Run's reports nor its failure reason contain a path on this machine. */
      const concealed = Effect.fnUntraced(function* <A, R>(
        job: RunJob,
        control: RunControl,
        execute: (control: ConcealingControl) => Effect.Effect<A, RunnerFailure, R>
      ) {
        const insideRoot = yield* stable
          .hold(job, control.runFolder)
          .pipe(Effect.mapError(({ message }) => runnerFailure("sandbox_refused", "prepare", message)))
        const paths = yield* serverPaths({
          runFolder: control.runFolder,
          insideRoot,
          modulePath: job.module.path,
          dataFolder: settings.dataFolder,
          providerCache: settings.providerCache,
          mirror: (yield* place.mirror)?.path
        })
        return yield* execute({ ...control, insideRoot, serverPaths: paths }).pipe(
          Effect.mapError((failure) => shownFailure(paths, failure))
        )
      })

      const plan = Effect.fn("ModuleRunner.plan")(
        function* (job: PlanJob, control: RunControl) {
          yield* Effect.annotateCurrentSpan({ runId: job.runId })
          return yield* concealed(job, control, (concealing) => executePlan(job, concealing))
        },
        Effect.scoped,
        Effect.provideService(Sandbox, sandbox),
        Effect.provideService(Redaction, redaction),
        Effect.provideService(RunPlace, place),
        Effect.provideService(RunnerSettings, settings)
      )

      const apply = Effect.fn("ModuleRunner.apply")(
        function* (job: ApplyJob, control: RunControl) {
          yield* Effect.annotateCurrentSpan({ runId: job.runId })
          return yield* concealed(job, control, (concealing) => executeApply(job, concealing))
        },
        Effect.scoped,
        Effect.provideService(Sandbox, sandbox),
        Effect.provideService(Redaction, redaction),
        Effect.provideService(RunPlace, place),
        Effect.provideService(RunnerSettings, settings)
      )

      const driftCheck = Effect.fn("ModuleRunner.driftCheck")(
        function* (job: DriftJob, control: RunControl) {
          yield* Effect.annotateCurrentSpan({ runId: job.runId })
          return yield* concealed(job, control, (concealing) => executeDriftCheck(job, concealing))
        },
        Effect.scoped,
        Effect.provideService(Sandbox, sandbox),
        Effect.provideService(Redaction, redaction),
        Effect.provideService(RunPlace, place),
        Effect.provideService(RunnerSettings, settings)
      )

      const confinement = Effect.fnUntraced(function* (requirements: RunRequirements | undefined) {
        const unmet = yield* sandbox.refusal(requirements)
        if (unmet !== undefined) return yield* runnerFailure("profile_unavailable", "prepare", unmet)
        const { reach } = yield* sandbox.network
        return { isolation: sandbox.status.level, network: reach }
      })

      const recover = Effect.fn("ModuleRunner.recover")(recoverApply)
      const withhold = Effect.fn("ModuleRunner.withhold")(
        (outputs: ReadonlyArray<StateOutput>, secrets: ReadonlyArray<SecretText>) =>
          redaction.redactor(secrets).pipe(
            Effect.flatMap((redactor) => withheldOutputs(redactor, outputs)),
            // An Output that could not be checked is not published.
            Effect.catch((problem) =>
              Effect.as(
                Effect.logError(problem.message),
                outputs.map((output) => ({ ...output, sensitive: true }))
              )
            ),
            Effect.scoped
          )
      )
      const discard = Effect.fn("ModuleRunner.discard")((runFolder: string) =>
        // Without bubblewrap, a tool outlives a crash of the service and would continue to write into the folder during its
        // removal.
        endProcessesOfRun(runFolder).pipe(
          Effect.andThen(removeStablePath(runFolder)),
          Effect.andThen(removeTree(runFolder, "remove the run folder"))
        )
      )

      return ModuleRunner.of({ confinement, plan, apply, driftCheck, recover, withhold, discard })
    })
  ).pipe(Layer.provide([Redaction.layer, StablePaths.layer]))
}
