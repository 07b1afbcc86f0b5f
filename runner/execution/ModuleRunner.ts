import { Clock, Context, Duration, Effect, Layer, Option, Redacted, type Scope } from "effect"
import type { RunConfinement, RunDiagnostic, SourceBuild } from "../../schema/records/Run.ts"
import type { RunRequirements } from "../sandbox/RunRequirements.ts"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { executeApply } from "./ApplyExecution.ts"
import { Redaction } from "../redaction/Redaction.ts"
import type { SecretText } from "../redaction/SecretText.ts"
import { endProcessesOfRun } from "./OrphanedProcesses.ts"
import { markedTexts, unmarkedOutputs, withheldOutputs } from "./OutputPrivacy.ts"
import { clearProviderStore } from "./ProviderStore.ts"
import { recoverApply } from "./Recovery.ts"
import { fileOperation, removeTree, type RunFileFailed } from "./RunFiles.ts"
import type { ApplyJob, DriftJob, LocalModule, ModuleReference, PlanJob, PlanSecrets, RunJob } from "./RunJob.ts"
import { type RunnerFailure, runnerFailure } from "./RunnerFailure.ts"
import { RunnerSettings } from "./RunnerSettings.ts"
import type { ApplyOutcome, DriftOutcome, UnfinishedApply, PlanOutcome, StateOutput } from "./RunOutcome.ts"
import { type BuildArchive, type RunControl, RunPlace } from "./RunPlace.ts"
import { type ConcealingControl, plannedValue, serverPaths, shownFailure } from "./ServerPaths.ts"
import { removeStablePath, StablePaths } from "./StablePaths.ts"
import { readDocument } from "../document/Documents.ts"
import { type ChangeHash, keyedChange } from "./ChangeDigest.ts"
import { sha256 } from "./Digest.ts"
import { initialize } from "./Initialization.ts"
import { lockFileName, longestLock } from "./ModulePreparation.ts"
import type { PlanDocument } from "./PlanDocument.ts"
import {
  isDeclaredSensitive,
  plannedSecrets,
  type PlanProjection,
  planSensitiveTexts,
  projectPlan
} from "./PlanProjection.ts"
import { providedBindings } from "./ProvidedBinding.ts"
import { refuseProvided } from "./ProvidedInPlan.ts"
import { planFileName, type RunFolderPaths, sandboxPaths } from "./RunFolder.ts"
import { requiredBuild } from "./RequiredBuild.ts"
import {
  derivedSecrets,
  inputSecrets,
  openSession,
  processesMayStart,
  type RunSession,
  type SessionStart
} from "./RunSession.ts"
import { requireSuccess } from "./ToolSuccess.ts"
import type { ProviderBlock } from "./CredentialDelivery.ts"
import type { ProviderSchemas } from "./ProviderSchemas.ts"
import { mkdir } from "node:fs/promises"
import { join, posix } from "node:path"
import { createBuildArchive } from "./BuildArchive.ts"
import { baseEnvironment } from "./ToolEnvironment.ts"
import { runTool, type ToolContext } from "./ToolRun.ts"

interface SourceBuildJob {
  readonly paths: RunFolderPaths
  readonly module: ModuleReference
  readonly localModules: ReadonlyArray<LocalModule>
  readonly build: SourceBuild
  /** True if the operator allows builds to use the network. */
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
 * Runs the reviewed commands of a source build in a copy of the tree: without a shell, without credentials, and without network
 * access unless the operator allows it. Keeps only the declared outputs, as an archive. Fails with a RunnerFailure of phase
 * `build`.
 */
const runSourceBuild = Effect.fn("SourceBuild.run")(function* (
  job: SourceBuildJob,
  context: Omit<ToolContext, "box">
): Effect.fn.Return<BuildArchive, RunnerFailure, Sandbox | RunPlace> {
  const failed = ({ message }: { readonly message: string }) => runnerFailure("build_failed", "build", message)
  yield* context.report.phase("build")
  return yield* createTree(job).pipe(
    Effect.mapError(failed),
    // Close the sandbox first, so that no process of the build can change the outputs while they are read.
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

const longestSchema = 512 * 1024 * 1024

type Schemas = NonNullable<ProviderSchemas["provider_schemas"]>

/** Finds the schema of a provider. An address without a host belongs to the tool's default registry. */
const schemaOf = (schemas: Schemas, provider: string) =>
  Object.entries(schemas).find(
    ([address]) => address === provider || (provider.split("/").length === 2 && address.endsWith(`/${provider}`))
  )?.[1]

const unknownArgument = (schemas: Schemas, { provider, body }: ProviderBlock): string | undefined => {
  const block = schemaOf(schemas, provider)?.provider?.block
  const known = new Set([...Object.keys(block?.attributes ?? {}), ...Object.keys(block?.block_types ?? {})])
  return Object.keys(body).find((argument) => !known.has(argument))
}

/**
 * Checks every argument that the runner adds against the provider's schema, after the installation. The tool ignores an unknown
 * argument in an override: if an argument's name were misspelt, a region would have no effect and the module would be
 * deployed elsewhere, or a credential would not reach the provider.
 */
const checkProviderArguments = Effect.fnUntraced(function* (session: RunSession) {
  if (session.providerBlocks.length === 0) return
  const end = yield* session.tool({
    phase: "init",
    args: ["providers", "schema", "-json"],
    access: "none",
    output: { kind: "document", maxBytes: longestSchema },
    timeout: session.timing.show,
    grace: session.timing.planGrace
  })
  yield* requireSuccess(end, "init", "init_failed")
  const unreadable = runnerFailure(
    "output_unreadable",
    "init",
    "The tool's description of the providers cannot be read."
  )
  if (end.document === undefined) return yield* unreadable
  const { provider_schemas: schemas = {} } = yield* readDocument("providers", Redacted.value(end.document)).pipe(
    Effect.mapError(() => unreadable)
  )
  for (const block of session.providerBlocks) {
    const argument = unknownArgument(schemas, block)
    if (argument === undefined) continue
    return yield* runnerFailure(
      "job_invalid",
      "init",
      `The provider ${block.provider} has no argument ${JSON.stringify(argument)}. Correct the Connection's provider configuration, ` +
        "or the argument name of its Credential Recipe."
    )
  }
})

const longestPlan = 512 * 1024 * 1024
const longestDocument = 512 * 1024 * 1024

/** The exit code that the tool uses to report changes. */
const changedCode = 2

interface Planned {
  readonly file: Uint8Array
  readonly projection: PlanProjection
  readonly change: ChangeHash
  readonly marked: PlanSecrets["marked"]
  readonly hasChanges: boolean
  readonly applyable: boolean
  readonly lockText: string | undefined
  readonly diagnostics: ReadonlyArray<RunDiagnostic>
}

const unreadable = (message: string) => runnerFailure("output_unreadable", "show", message)

const describePlan = Effect.fnUntraced(function* (session: RunSession, job: RunJob, isSent: boolean) {
  yield* session.report.phase("show")
  const end = yield* session.tool({
    phase: "show",
    args: ["show", "-json", session.planFile],
    access: "none",
    output: { kind: "document", maxBytes: longestDocument },
    timeout: session.timing.show,
    grace: session.timing.planGrace
  })
  yield* requireSuccess(end, "show", "output_unreadable")
  if (end.document === undefined)
    return yield* unreadable("The tool's description of the plan is too long or was cut off.")
  const bytes = Redacted.value(end.document)
  if (isSent && session.provided !== undefined) yield* refuseProvided(session.provided, bytes, job.state)
  return yield* Effect.all({
    document: readDocument("plan", bytes),
    change: readDocument("change", bytes)
  }).pipe(
    Effect.mapError(() => unreadable("The tool's description of the plan is not in the expected format (version 1)."))
  )
})

/** Reads a file in the sandbox. Fails if it does not exist. */
const readProduct = (content: ReturnType<RunSession["settings"]["read"]>, what: string) =>
  content.pipe(
    Effect.mapError(({ message }) => runnerFailure("output_unreadable", "plan", message)),
    Effect.flatMap(
      Option.match({
        onNone: () =>
          Effect.fail(runnerFailure("output_unreadable", "plan", `The tool reported success but wrote no ${what}.`)),
        onSome: Effect.succeed
      })
    )
  )

/**
 * Returns the secrets that Outputs repeat after losing their sensitive mark. An Output's own earlier value is not treated as
 * a secret.
 */
const secretsOfUnmarked = Effect.fnUntraced(function* (
  session: RunSession,
  document: PlanDocument,
  unmarked: ReadonlySet<string>,
  marked: PlanSecrets["marked"]
) {
  const secrets = [...session.secrets, ...marked, ...derivedSecrets("state", markedTexts(session.base, unmarked))]
  const redaction = yield* Redaction
  return yield* redaction.redactor(secrets).pipe(
    Effect.flatMap((redactor) => plannedSecrets(document, redactor, unmarked)),
    Effect.mapError(({ message }) => runnerFailure("output_unreadable", "show", message)),
    Effect.scoped
  )
})

/** Computes a plan. Set `isSent` if the plan file leaves this machine. */
const computePlan = Effect.fnUntraced(function* (
  session: RunSession,
  job: RunJob,
  { flags, isSent }: { readonly flags: ReadonlyArray<string>; readonly isSent: boolean }
) {
  const init = session.uninstalled ? undefined : yield* initialize(session, job, "update")
  yield* checkProviderArguments(session)
  yield* session.report.phase("plan")
  const end = yield* session.tool({
    phase: "plan",
    args: [
      "plan",
      "-input=false",
      "-no-color",
      "-json",
      "-detailed-exitcode",
      `-out=${session.planFile}`,
      ...session.inputArguments,
      ...flags
    ],
    access: "credentials",
    output: { kind: "messages" },
    timeout: session.timing.plan,
    grace: session.timing.planGrace
  })
  yield* requireSuccess(end, "plan", "plan_failed", [0, changedCode])
  const file = yield* readProduct(session.settings.read(planFileName, longestPlan), "plan file")
  const { change, document } = yield* describePlan(session, job, isSent)
  if (document.errored === true)
    return yield* runnerFailure("plan_failed", "plan", "The tool marked the plan as failed.")
  const unmarked = unmarkedOutputs(session.base, (name) => isDeclaredSensitive(document, name) === false)
  const marked = derivedSecrets("plan", planSensitiveTexts(document, unmarked))
  yield* session.redactor.add(derivedSecrets("plan", planSensitiveTexts(document)))
  const judged = unmarked.size === 0 ? undefined : yield* secretsOfUnmarked(session, document, unmarked, marked)
  const lock = yield* session.module
    .read(lockFileName, longestLock)
    .pipe(Effect.mapError(({ message }) => runnerFailure("output_unreadable", "plan", message)))
  const planned: Planned = {
    file,
    projection: yield* projectPlan(document, session.redactor, (value) => plannedValue(session.serverPaths, value), {
      stored:
        session.base?.outputs === undefined
          ? undefined
          : new Map(session.base.outputs.map(({ name, sensitive }) => [name, sensitive])),
      unmarked: judged
    }),
    change,
    marked,
    hasChanges: end.code === changedCode,
    applyable: document.applyable ?? end.code === changedCode,
    lockText: Option.getOrUndefined(Option.map(lock, (bytes) => new TextDecoder().decode(bytes))),
    diagnostics: [...(init?.diagnostics ?? []), ...end.diagnostics]
  }
  return planned
})

const secretsOf = (job: PlanJob | DriftJob) =>
  Object.entries(job.variables).flatMap(([name, { value, sensitive }]) =>
    sensitive ? inputSecrets(job, name, value) : []
  )

const lockEvidence = (lockText: string | undefined) =>
  lockText === undefined ? {} : { lockText, providerLockDigest: sha256(lockText) }

const openPlanSession = (
  job: PlanJob | DriftJob,
  control: ConcealingControl,
  build: (start: SessionStart) => Effect.Effect<BuildArchive | undefined, RunnerFailure, Sandbox | RunPlace>
) =>
  openSession({
    job,
    control,
    inputs: job.variables,
    secrets: secretsOf(job),
    planFile: undefined,
    lock: "repository",
    build
  }).pipe(
    // Remove the tree, which contains the state in plaintext and is not needed any more.
    Effect.tap((session) =>
      Effect.addFinalizer(() => Effect.ignore(removeTree(session.paths.sandbox, "remove the plan's tree")))
    )
  )

const modeFlags: Readonly<Record<PlanJob["mode"], ReadonlyArray<string>>> = {
  create_or_update: [],
  destroy: ["-destroy"],
  refresh_only: ["-refresh-only"]
}

/** Computes a reviewable plan. See `ModuleRunner.plan`. */
const executePlan = Effect.fnUntraced(function* (
  job: PlanJob,
  control: ConcealingControl
): Effect.fn.Return<PlanOutcome, RunnerFailure, Sandbox | Redaction | RunPlace | Scope.Scope> {
  const sandbox = yield* Sandbox
  const place = yield* RunPlace
  const { sourceBuild } = job
  const session = yield* openPlanSession(job, control, (start) =>
    sourceBuild === undefined
      ? requiredBuild(job.build)
      : Effect.andThen(
          processesMayStart(control, start.cancel),
          runSourceBuild(
            {
              paths: start.paths,
              module: job.module,
              localModules: job.localModules,
              build: sourceBuild,
              network: sourceBuild.network,
              requirements: job.demands,
              timeout: start.timing.build,
              grace: start.timing.planGrace
            },
            start
          )
        )
  )
  const planned = yield* computePlan(session, job, {
    flags: modeFlags[job.mode],
    isSent: true
  })
  yield* session.report.planSummary(planned.projection.summary)
  const planDigest = sha256(planned.file)
  const secrets = { inputs: secretsOf(job), credentials: session.credentialSecrets, marked: planned.marked }
  return {
    planFile: Redacted.make(planned.file),
    planDigest,
    ...(job.changeKey === undefined
      ? {}
      : { changeDigest: keyedChange(Redacted.value(job.changeKey), job.mode, planned.change) }),
    secrets:
      session.ownSets.size === 0
        ? secrets
        : { ...secrets, provided: yield* providedBindings(session.ownSets, planDigest) },
    ...lockEvidence(planned.lockText),
    ...planned.projection,
    hasChanges: planned.hasChanges,
    applyable: planned.applyable,
    ...(session.build === undefined || job.build !== undefined ? {} : { build: yield* place.keepBuild(session.build) }),
    tool: { name: job.tool.name, version: job.tool.version },
    sandboxLevel: sandbox.status.level,
    envNames: session.envNames,
    diagnostics: planned.diagnostics
  }
})

/** Compares the state with the real objects without changing anything. See `ModuleRunner.driftCheck`. */
const executeDriftCheck = Effect.fnUntraced(function* (
  job: DriftJob,
  control: ConcealingControl
): Effect.fn.Return<DriftOutcome, RunnerFailure, Sandbox | Redaction | RunPlace | Scope.Scope> {
  const sandbox = yield* Sandbox
  const session = yield* openPlanSession(job, control, () => requiredBuild(job.build))
  const planned = yield* computePlan(session, job, { flags: modeFlags.refresh_only, isSent: false })
  return {
    drifted: planned.projection.resourceDrift.length > 0,
    resourceDrift: planned.projection.resourceDrift,
    ...lockEvidence(planned.lockText),
    tool: { name: job.tool.name, version: job.tool.version },
    sandboxLevel: sandbox.status.level,
    envNames: session.envNames,
    diagnostics: planned.diagnostics
  }
})

/**
 * Executes plans and applies of one module with OpenTofu or Terraform, each inside the sandbox and in its own run folder.
 *
 * - `plan`: computes a plan for review (to create, update, destroy, or change only the state). Fails with `RunnerFailure` if
 *   there is no plan, including after a cancellation. Afterwards inputs and tree are removed from disk; a build archive is
 *   kept.
 * - `apply`: applies exactly the reviewed plan file, with the reviewed lock and build. A `RunnerFailure` means that the tool
 *   did not start and nothing changed; everything else is an `ApplyOutcome`, whose state must be imported regardless of the
 *   result. A run folder can be used for only one apply; a second start is refused.
 * - `driftCheck`: compares the state with the real objects.
 * - `recover`: after a crash of svc, finds the state that an apply left in a run folder; `none` if its tool never started. Kills
 *   processes that still use the folder. The call can be repeated.
 * - `withhold`: marks the Outputs that repeat a secret; used for an apply whose end was not observed.
 * - `confinement`: the isolation and network for a Run with these requirements. Fails with `profile_unavailable` if this machine
 *   cannot meet them.
 * - `discard`: removes a run folder whose state is stored elsewhere, and kills processes that use it.
 *
 * Interrupting an effect kills its sandbox. Use `cancelRequested` for a graceful stop.
 */
export class ModuleRunner extends Context.Service<
  ModuleRunner,
  {
    readonly confinement: (requirements: RunRequirements | undefined) => Effect.Effect<RunConfinement, RunnerFailure>
    readonly plan: (job: PlanJob, control: RunControl) => Effect.Effect<PlanOutcome, RunnerFailure>
    readonly apply: (job: ApplyJob, control: RunControl) => Effect.Effect<ApplyOutcome, RunnerFailure>
    readonly driftCheck: (job: DriftJob, control: RunControl) => Effect.Effect<DriftOutcome, RunnerFailure>
    readonly recover: (runFolder: string) => Effect.Effect<Option.Option<UnfinishedApply>, RunFileFailed>
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

      /** Replaces this machine's paths in a Run's reports and failure reasons. */
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
            // If the check fails, publish none of these Outputs.
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
        // Kill remaining processes first: without bubblewrap, a tool survives a crash of svc and could write into the folder
        // during its removal.
        endProcessesOfRun(runFolder).pipe(
          Effect.andThen(removeStablePath(runFolder)),
          Effect.andThen(removeTree(runFolder, "remove the run folder"))
        )
      )

      return ModuleRunner.of({ confinement, plan, apply, driftCheck, recover, withhold, discard })
    })
  ).pipe(Layer.provide([Redaction.layer, StablePaths.layer]))
}
