import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { ModuleRunner } from "../../../../runner/execution/ModuleRunner.ts"
import { ApplyJob, DriftJob, PlanJob, type RunJob, timingWith } from "../../../../runner/execution/RunJob.ts"
import { ProvidedCredentials } from "../../../../runner/execution/ProvidedCredentials.ts"
import { type BuildArchive, RunPlace } from "../../../../runner/execution/RunPlace.ts"
import { RunnerFailure, runnerFailure } from "../../../../runner/execution/RunnerFailure.ts"
import { ApplyOutcome, DriftOutcome, UnfinishedApply, PlanOutcome } from "../../../../runner/execution/RunOutcome.ts"
import type { RunSink } from "../../../../runner/execution/RunSink.ts"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import {
  defaultSandboxSettings,
  SandboxSettings,
  type SandboxSettingsShape
} from "../../../../runner/sandbox/SandboxSettings.ts"
import type { Around, Placed, Tree } from "./RunnerHarness.ts"

/** The environment of the job that is being executed. */
const JobEnvironment = Context.Reference<Omit<Around, "cancel" | "runFolder"> & { readonly program: string }>(
  "svc/test/runner/JobEnvironment",
  { defaultValue: () => ({ tree: {}, mirror: undefined, program: "/nowhere/tool" }) }
)

const extract = (tree: Tree, target: string) =>
  Effect.sync(() => {
    for (const [path, content] of Object.entries(tree)) {
      mkdirSync(dirname(join(target, path)), { recursive: true })
      writeFileSync(join(target, path), content)
    }
  })

/** A `RunPlace` that returns each job's environment, and does not move a build. */
const place = Layer.sync(RunPlace, () => {
  const builds = new Map<string, BuildArchive>()
  return RunPlace.of({
    extractModule: (_digest, target) => Effect.flatMap(JobEnvironment, ({ tree }) => extract(tree, target)),
    tool: () => Effect.map(JobEnvironment, ({ program }) => program),
    keepBuild: (archive) =>
      Effect.sync(() => {
        builds.set(archive.digest, archive)
        return { digest: archive.digest, sizeBytes: archive.sizeBytes }
      }),
    findBuild: ({ digest }) => Effect.sync(() => Option.fromUndefinedOr(builds.get(digest))),
    provided: (name) => Effect.flatMap(ProvidedCredentials, ({ read }) => read(name)),
    mirror: Effect.map(JobEnvironment, ({ mirror }) => mirror)
  })
})

/** Passes a value across a boundary: encodes, serialises, parses and decodes it. */
const across = <S extends Schema.Codec<unknown, unknown>>(schema: S) => {
  const text = Schema.fromJsonString(schema)
  return (value: S["Type"]) => Effect.flatMap(Schema.encodeEffect(text)(value), Schema.decodeEffect(text))
}

/** Passes a job across the boundary. Fails with `job_invalid` if the job is malformed. */
const sent = <S extends Schema.Codec<unknown, unknown>>(schema: S) => {
  const crossing = across(schema)
  return (job: S["Type"]) =>
    crossing(job).pipe(Effect.mapError((error) => runnerFailure("job_invalid", "prepare", error.message)))
}

const answered = <S extends Schema.Codec<unknown, unknown>>(schema: S) => {
  const crossing = across(schema)
  return (outcome: S["Type"]) => Effect.orDie(crossing(outcome))
}

/** A runner behind a boundary, which jobs, outcomes and failures cross only as text. */
export class TestRunner extends Context.Service<
  TestRunner,
  {
    readonly plan: (job: Placed<PlanJob>, sink: RunSink) => Effect.Effect<PlanOutcome, RunnerFailure>
    readonly apply: (job: Placed<ApplyJob>, sink: RunSink) => Effect.Effect<ApplyOutcome, RunnerFailure>
    readonly driftCheck: (job: Placed<DriftJob>, sink: RunSink) => Effect.Effect<DriftOutcome, RunnerFailure>
    readonly recover: ModuleRunner["Service"]["recover"]
    readonly withhold: ModuleRunner["Service"]["withhold"]
    readonly confinement: ModuleRunner["Service"]["confinement"]
    readonly discard: ModuleRunner["Service"]["discard"]
  }
>()("svc/test/runner/TestRunner") {
  static readonly layer = Layer.effect(
    TestRunner,
    Effect.gen(function* () {
      const runner = yield* ModuleRunner
      const failed = (failure: RunnerFailure) => Effect.flatMap(answered(RunnerFailure)(failure), Effect.fail)

      const data = <Job extends RunJob>(job: Placed<Job>) => {
        const { cancel: _cancel, mirror: _mirror, runFolder: _folder, timing, tool, tree: _tree, ...rest } = job
        return {
          ...rest,
          tool: { name: tool.name, version: tool.version },
          ...(timing === undefined ? {} : { timing: timingWith(timing) })
        }
      }

      const placed = <Job extends RunJob, A, E>(job: Placed<Job>, run: Effect.Effect<A, E>) =>
        Effect.provideService(run, JobEnvironment, { tree: job.tree, mirror: job.mirror, program: job.tool.path })

      const control = (job: Around, sink: RunSink) => ({
        runFolder: job.runFolder,
        cancelRequested: job.cancel,
        sink
      })

      return TestRunner.of({
        ...runner,
        plan: (job, sink) =>
          sent(PlanJob)(data(job)).pipe(
            Effect.flatMap((given) => placed(job, runner.plan(given, control(job, sink)))),
            Effect.catch(failed),
            Effect.flatMap(answered(PlanOutcome))
          ),
        apply: (job, sink) =>
          sent(ApplyJob)(data(job)).pipe(
            Effect.flatMap((given) => placed(job, runner.apply(given, control(job, sink)))),
            Effect.catch(failed),
            Effect.flatMap(answered(ApplyOutcome))
          ),
        driftCheck: (job, sink) =>
          sent(DriftJob)(data(job)).pipe(
            Effect.flatMap((given) => placed(job, runner.driftCheck(given, control(job, sink)))),
            Effect.catch(failed),
            Effect.flatMap(answered(DriftOutcome))
          ),
        recover: (runFolder) =>
          Effect.flatMap(
            runner.recover(runFolder),
            Option.match({
              onNone: () => Effect.succeed(Option.none()),
              onSome: (left) => Effect.map(answered(UnfinishedApply)(left), Option.some)
            })
          )
      })
    })
  )
}

/**
 * Only tests about networks use separate networks, because creating a network takes as long as a plan. All other Runs use
 * the host's network.
 */
const sandboxDefaults: SandboxSettingsShape = {
  ...defaultSandboxSettings,
  network: { ...defaultSandboxSettings.network, reach: "host" }
}

export const runnerWith = (settings: Partial<SandboxSettingsShape> = {}) =>
  TestRunner.layer.pipe(
    Layer.provide(ModuleRunner.layer),
    Layer.provide(place),
    Layer.provideMerge(Sandbox.layer),
    Layer.provide(Layer.succeed(SandboxSettings, { ...sandboxDefaults, ...settings })),
    Layer.provide(NodeServices.layer)
  )
