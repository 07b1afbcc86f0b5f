import { constants } from "node:fs"
import { access, mkdir, readdir, realpath } from "node:fs/promises"
import { isAbsolute, posix } from "node:path"
import { type Duration, Effect, Redacted, Result, Schema, type Scope, type Semaphore } from "effect"
import type { RunPhase } from "../../schema/events/RunEvent.ts"
import { RelativePath } from "../../schema/records/Primitives.ts"
import { Redactor, type Secret } from "../redaction/Redactor.ts"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { type CancelSignal, listenForCancel } from "./CancelSignal.ts"
import { isConfigurablePath } from "./CliConfiguration.ts"
import { deliverCredentials, type ProviderBlock } from "./CredentialDelivery.ts"
import { type Preparation, prepareModule } from "./ModulePreparation.ts"
import { fileOperation, type HeldFolder, holdFolder, type RunFileFailed } from "./RunFiles.ts"
import {
  createRunFolder,
  moduleFolder,
  planFileName,
  type RunFolderPaths,
  removeSecrets,
  runFolderPaths,
  sandboxPaths
} from "./RunFolder.ts"
import { type BuildArchive, defaultTiming, type ExtractionFailed, type RunJob, type RunTiming } from "./RunJob.ts"
import { type RunnerFailure, type RunnerFailureReason, runnerFailure } from "./RunnerFailure.ts"
import { RunnerSettings } from "./RunnerSettings.ts"
import { type RunReport, runReport } from "./RunReport.ts"
import { type RunSink, unbreakableSink } from "./RunSink.ts"
import { parseState, sensitiveLeaves, type StateFile } from "./StateFile.ts"
import { baseEnvironment, toolEnvironment } from "./ToolEnvironment.ts"
import { runTool, type ToolEnd, type ToolOutput } from "./ToolRun.ts"

/** What a command of the tool may have: `install` a way to registries, `credentials` what the module's providers need. */
export type ToolAccess = "none" | "install" | "credentials"

export interface ToolCommand {
  readonly phase: RunPhase
  readonly args: ReadonlyArray<string>
  readonly access: ToolAccess
  readonly output: ToolOutput
  readonly timeout: Duration.Input
  readonly grace: Duration.Input
}

/** A run whose folder is laid out and whose sandbox is open. */
export interface RunSession {
  readonly paths: RunFolderPaths
  readonly timing: RunTiming
  readonly sink: RunSink
  readonly report: RunReport
  readonly redactor: Redactor
  readonly cancel: CancelSignal
  readonly envNames: ReadonlyArray<string>
  readonly providerBlocks: ReadonlyArray<ProviderBlock>
  readonly base: StateFile | undefined
  /** What was laid over the tree. */
  readonly build: BuildArchive | undefined
  /** The root module, and the folder of inputs and plan file; held open since before any module code ran. */
  readonly module: HeldFolder
  readonly settings: HeldFolder
  /** Paths as the tool sees them. */
  readonly planFile: string
  readonly inputArguments: ReadonlyArray<string>
  readonly tool: (command: ToolCommand) => Effect.Effect<ToolEnd, RunnerFailure>
}

export interface SessionRequest {
  readonly job: RunJob
  readonly sink: RunSink
  readonly inputs: Preparation["inputs"]
  readonly secrets: ReadonlyArray<Secret>
  readonly planFile: Preparation["planFile"]
  readonly lock: Preparation["lock"]
  /** Runs after the folder exists and before it is laid out; gives the archive to lay over the tree. */
  readonly build: (start: SessionStart) => Effect.Effect<BuildArchive | undefined, RunnerFailure, Sandbox>
}

export type SessionStart = Pick<RunSession, "paths" | "timing" | "sink" | "report" | "redactor" | "cancel">

/** The text of sensitive inputs: a structured one is secret in each of its parts. */
export const inputSecrets = (value: Redacted.Redacted<Schema.Json>): ReadonlyArray<Secret> => {
  const plain = Redacted.value(value)
  return (typeof plain === "string" ? [plain] : sensitiveLeaves(plain)).map((text) => Redacted.make(text))
}

/** A state or plan may mark thousands of texts; the redactor's cost grows with each. The marks themselves hide all of them. */
const mostDerivedSecrets = 500

export const derivedSecrets = (texts: ReadonlyArray<string>): ReadonlyArray<Secret> =>
  [...new Set(texts)].slice(0, mostDerivedSecrets).map((text) => Redacted.make(text))

const isRelativePath = Schema.is(RelativePath)

const checkJob = Effect.fnUntraced(function* (job: RunJob) {
  const invalid = (message: string) => runnerFailure("job_invalid", "prepare", message)
  if (!isAbsolute(job.runFolder)) return yield* invalid("The run folder must be an absolute path.")
  if (!isRelativePath(job.modulePath)) {
    return yield* invalid(`The module path ${JSON.stringify(job.modulePath)} is not canonical.`)
  }
  const mirror = job.mirror?.path
  if (mirror !== undefined && !(isAbsolute(mirror) && isConfigurablePath(mirror))) {
    return yield* invalid("The provider mirror must be an absolute path without quotes, backslashes, $ or %.")
  }
  if (mirror !== undefined) {
    yield* fileOperation("find the provider mirror", () => readdir(mirror)).pipe(
      Effect.mapError(() => invalid(`The provider mirror ${mirror} is not a folder that can be read.`))
    )
  }
  // Only the program itself is let into the sandbox, so a link to it must be followed first.
  return yield* fileOperation("find the tool", async () => {
    await access(job.tool.path, constants.X_OK)
    return await realpath(job.tool.path)
  }).pipe(
    Effect.mapError(() =>
      runnerFailure(
        "tool_missing",
        "prepare",
        `${job.tool.name} ${job.tool.version} is not at ${job.tool.path}, or it cannot be executed. Install it or configure its path.`
      )
    )
  )
})

/** Turns the end of a command that did not do its work into a failure. `codes` are the exit codes of success. */
export const requireSuccess = (
  end: ToolEnd,
  phase: RunPhase,
  reason: RunnerFailureReason,
  codes: ReadonlyArray<number> = [0]
): Effect.Effect<void, RunnerFailure> => {
  const { diagnostics, sandboxKilled } = end
  const more = { diagnostics, sandboxKilled }
  switch (end.ending) {
    case "cancelled":
      return Effect.fail(runnerFailure("cancelled", phase, "The run was cancelled.", more))
    case "timed_out":
      return Effect.fail(runnerFailure("timed_out", phase, `The phase ${phase} did not end in time.`, more))
    case "killed":
      return Effect.fail(
        runnerFailure("killed", phase, "The tool was ended by a signal, for example because memory ran out.", more)
      )
    case "exited": {
      if (end.code !== undefined && codes.includes(end.code)) return Effect.void
      const error = diagnostics.find(({ severity }) => severity === "error")
      const told = error?.summary ?? end.lastLines.join(" | ")
      const message = told === "" ? `The tool ended with exit code ${end.code} and did not say why.` : told
      return Effect.fail(runnerFailure(reason, phase, message, more))
    }
  }
}

export const failWhenCancelled = (cancel: CancelSignal, phase: RunPhase) =>
  cancel.isRequested.pipe(
    Effect.flatMap((requested) =>
      requested ? Effect.fail(runnerFailure("cancelled", phase, "The run was cancelled.")) : Effect.void
    )
  )

const prepareFailed = ({ message }: RunFileFailed | ExtractionFailed) =>
  runnerFailure("prepare_failed", "prepare", message)

/**
 * Lays out the run folder and opens its sandbox until the Scope closes; then inputs and credentials are removed from the disk.
 * Everything is checked before anything of the module runs.
 */
export const openSession = Effect.fn("RunSession.open")(function* (
  request: SessionRequest,
  installLock: Semaphore.Semaphore
): Effect.fn.Return<RunSession, RunnerFailure, Sandbox | Scope.Scope> {
  const { job } = request
  const sandbox = yield* Sandbox
  const { providerCache } = yield* RunnerSettings
  const { level } = sandbox.status
  const sink = unbreakableSink(request.sink)
  const redactor = new Redactor(request.secrets)
  const report = runReport(sink, redactor)
  const paths = runFolderPaths(job.runFolder)
  const timing = { ...defaultTiming, ...job.timing }
  const cancel = yield* listenForCancel(job.cancel)
  yield* report.phase("prepare")
  const program = yield* checkJob(job)

  const insideRoot = sandbox.insideRoot(paths.sandbox)
  const cwd = moduleFolder(job.modulePath)
  const delivered = deliverCredentials(job.credentials, {
    insideRoot,
    credentialFolder: sandboxPaths.credentials,
    moduleFolder: cwd
  })
  if (Result.isFailure(delivered)) return yield* runnerFailure("job_invalid", "prepare", delivered.failure)
  const delivery = delivered.success
  redactor.add(delivery.secrets)
  const base =
    job.state === undefined
      ? undefined
      : yield* Effect.fromOption(parseState(Redacted.value(job.state))).pipe(
          Effect.mapError(() => runnerFailure("job_invalid", "prepare", "The base state is not a state file."))
        )
  redactor.add(derivedSecrets(base?.sensitiveTexts ?? []))

  yield* createRunFolder(paths, level).pipe(Effect.mapError(prepareFailed))
  yield* Effect.addFinalizer(() => Effect.ignore(removeSecrets(paths)))
  const build = yield* request.build({ paths, timing, sink, report, redactor, cancel })
  const prepared = yield* prepareModule(paths, job, {
    delivery,
    inputs: request.inputs,
    build,
    planFile: request.planFile,
    lock: request.lock
  }).pipe(Effect.mapError(prepareFailed))
  yield* failWhenCancelled(cancel, "prepare")

  const module = yield* holdFolder(prepared.rootFolder).pipe(Effect.mapError(prepareFailed))
  const settings = yield* holdFolder(posix.join(paths.sandbox, sandboxPaths.settings)).pipe(
    Effect.mapError(prepareFailed)
  )
  const cache = level === "user" ? undefined : providerCache
  if (cache !== undefined) {
    yield* fileOperation("create the provider cache", () => mkdir(cache, { recursive: true, mode: 0o700 })).pipe(
      Effect.mapError(prepareFailed)
    )
  }
  const box = yield* sandbox
    .open({
      root: paths.sandbox,
      readOnly: [
        ...(program.startsWith("/usr/") ? [] : [program]),
        ...(job.mirror === undefined ? [] : [job.mirror.path]),
        ...(cache === undefined ? [] : [cache])
      ]
    })
    .pipe(Effect.mapError(({ message }) => runnerFailure("sandbox_refused", "prepare", message)))

  const common = { ...baseEnvironment(box.root, level), ...toolEnvironment(box.root) }
  const cacheEnvironment = cache === undefined ? {} : { TF_PLUGIN_CACHE_DIR: cache }
  const registryTokens = Object.fromEntries(
    Object.entries(delivery.environment).filter(([name]) => name.startsWith("TF_TOKEN_"))
  )
  const environments = {
    none: common,
    install: { ...common, ...cacheEnvironment, ...registryTokens },
    credentials: { ...common, ...delivery.environment }
  }

  const tool = (command: ToolCommand) => {
    const isInstall = command.access === "install"
    const running = runTool(
      { box, sink, report, redactor, cancel },
      {
        phase: command.phase,
        command: {
          argv: [program, ...command.args],
          cwd,
          environment: environments[command.access],
          network: command.access !== "none" && (job.network ?? true),
          writable: isInstall && cache !== undefined ? [cache] : []
        },
        output: command.output,
        timeout: command.timeout,
        grace: command.grace
      }
    ).pipe(Effect.mapError(({ message }) => runnerFailure("tool_missing", command.phase, message)))
    // Two writers can spoil the cache for each other.
    return isInstall && cache !== undefined ? installLock.withPermit(running) : running
  }

  return {
    paths,
    timing,
    sink,
    report,
    redactor,
    cancel,
    envNames: Object.keys(delivery.environment).sort(),
    providerBlocks: delivery.blocks,
    base,
    build,
    module,
    settings,
    planFile: posix.join(insideRoot, sandboxPaths.settings, planFileName),
    inputArguments: prepared.hasInputs ? [`-var-file=${posix.join(insideRoot, sandboxPaths.inputs)}`] : [],
    tool
  }
})

const isVersion = (version: string, major: number, minor: number) => {
  const [, ownMajor = "0", ownMinor = "0"] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  return Number(ownMajor) > major || (Number(ownMajor) === major && Number(ownMinor) >= minor)
}

/** Installs providers. Modules are never fetched: what the scan did not find in the tree does not exist. */
export const initialize = Effect.fnUntraced(function* (session: RunSession, job: RunJob, lock: "readonly" | "update") {
  const { name, version } = job.tool
  const speaksJson = name === "opentofu" ? isVersion(version, 1, 7) : isVersion(version, 1, 9)
  yield* session.report.phase("init")
  const end = yield* session.tool({
    phase: "init",
    args: [
      "init",
      "-input=false",
      "-get=false",
      "-reconfigure",
      "-no-color",
      ...(speaksJson ? ["-json"] : []),
      ...(lock === "readonly" ? ["-lockfile=readonly"] : [])
    ],
    access: "install",
    output: { kind: "messages" },
    timeout: session.timing.init,
    grace: session.timing.planGrace
  })
  yield* requireSuccess(end, "init", "init_failed")
  return end
})
