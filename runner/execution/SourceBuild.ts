import { mkdir } from "node:fs/promises"
import { join, posix } from "node:path"
import { Clock, Duration, Effect } from "effect"
import type { SourceBuild } from "../../schema/records/Run.ts"
import type { RunRequirements } from "../sandbox/RunRequirements.ts"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { createBuildArchive } from "./BuildArchive.ts"
import type { RunFolderPaths } from "./RunFolder.ts"
import { sandboxPaths } from "./RunFolder.ts"
import { fileOperation, removeTree } from "./RunFiles.ts"
import type { LocalModule, ModuleReference } from "./RunJob.ts"
import { type BuildArchive, RunPlace } from "./RunPlace.ts"
import { type RunnerFailure, runnerFailure } from "./RunnerFailure.ts"
import { baseEnvironment } from "./ToolEnvironment.ts"
import { runTool, type ToolContext } from "./ToolRun.ts"

export interface SourceBuildJob {
  readonly paths: RunFolderPaths
  readonly module: ModuleReference
  readonly localModules: ReadonlyArray<LocalModule>
  readonly build: SourceBuild
  /** True if the operator allows builds to reach the network. */
  readonly network: boolean
  readonly requirements: RunRequirements | undefined
  readonly timeout: Duration.Input
  readonly grace: Duration.Input
}

/** Folders in the tree from which the tool reads configuration. */
const moduleFolders = (job: SourceBuildJob): ReadonlySet<string> =>
  new Set(
    [job.module.path, ...job.localModules.map(({ dir }) => posix.join(job.module.path, dir))].map(posix.normalize)
  )

const createTree = (job: SourceBuildJob) => {
  const folders = [sandboxPaths.source, sandboxPaths.home, sandboxPaths.temporary]
  return removeTree(job.paths.build, "empty the build folder").pipe(
    Effect.andThen(
      fileOperation("create the build folder", async () => {
        for (const folder of folders) await mkdir(join(job.paths.build, folder), { recursive: true, mode: 0o700 })
      })
    ),
    Effect.andThen(RunPlace),
    Effect.flatMap((place) =>
      place.extractModule(job.module.snapshotDigest, join(job.paths.build, sandboxPaths.source))
    )
  )
}

const runCommands = Effect.fnUntraced(function* (job: SourceBuildJob, context: Omit<ToolContext, "box">) {
  const sandbox = yield* Sandbox
  const box = yield* sandbox
    .open({
      root: job.paths.build,
      readOnly: [],
      temporary: sandboxPaths.temporary,
      processNote: job.paths.processes,
      requirements: job.requirements
    })
    .pipe(Effect.mapError(({ message }) => runnerFailure("sandbox_refused", "build", message)))
  const started = yield* Clock.currentTimeMillis
  const allowed = Duration.toMillis(Duration.fromInputUnsafe(job.timeout))
  for (const [index, { argv, workingDirectory = "." }] of job.build.commands.entries()) {
    const [program, ...args] = argv
    if (program === undefined) return yield* runnerFailure("job_invalid", "build", "A build command has no program.")
    const name = `Build command ${index + 1} (${yield* context.report.clean(program)})`
    yield* context.report.log("build", "system", `$ ${argv.join(" ")}`)
    const left = allowed - ((yield* Clock.currentTimeMillis) - started)
    const end = yield* runTool(
      { ...context, box },
      {
        phase: "build",
        command: {
          argv: [program, ...args],
          cwd: posix.join(sandboxPaths.source, workingDirectory),
          environment: { ...baseEnvironment(box), CI: "true" },
          network: job.network
        },
        output: { kind: "text" },
        timeout: Duration.millis(Math.max(0, left)),
        grace: job.grace
      }
    ).pipe(Effect.mapError(({ message }) => runnerFailure("build_failed", "build", `${name}: ${message}`)))
    const { sandboxKilled } = end
    if (end.limit !== undefined) {
      return yield* runnerFailure(end.limit.code, "build", `${name}: ${end.limit.message}`, { sandboxKilled })
    }
    if (end.ending === "cancelled")
      return yield* runnerFailure("cancelled", "build", `${name} was cancelled.`, { sandboxKilled })
    if (end.ending === "timed_out") {
      return yield* runnerFailure("timed_out", "build", `${name} did not end in time.`, { sandboxKilled })
    }
    if (end.code !== 0) {
      const how = end.code === undefined ? "was ended by a signal" : `ended with exit code ${end.code}`
      return yield* runnerFailure("build_failed", "build", `${name} ${how}. ${end.lastLines.join(" | ")}`.trim())
    }
  }
})

/**
 * Runs the reviewed commands of a source build in a copy of the tree, without a shell, without any credentials, and without
 * network access unless the operator allows it. Only the declared outputs are kept, as an archive; everything else that the
 * commands wrote is discarded. Fails with a RunnerFailure of phase `build`.
 */
export const runSourceBuild = Effect.fn("SourceBuild.run")(function* (
  job: SourceBuildJob,
  context: Omit<ToolContext, "box">
): Effect.fn.Return<BuildArchive, RunnerFailure, Sandbox | RunPlace> {
  const failed = ({ message }: { readonly message: string }) => runnerFailure("build_failed", "build", message)
  yield* context.report.phase("build")
  return yield* createTree(job).pipe(
    Effect.mapError(failed),
    // The sandbox is closed first, so that no process of the build is still running during the read.
    Effect.andThen(Effect.scoped(runCommands(job, context))),
    Effect.andThen(
      createBuildArchive({
        root: join(job.paths.build, sandboxPaths.source),
        outputs: job.build.outputs,
        moduleFolders: moduleFolders(job),
        target: job.paths.buildArchive
      }).pipe(Effect.mapError(failed))
    ),
    Effect.ensuring(Effect.ignore(removeTree(job.paths.build, "remove the build folder")))
  )
})
