import { dirname, isAbsolute, join, posix, sep } from "node:path"
import { type Duration, Effect, Option, Redacted, Ref, Result, Schema, type Scope } from "effect"
import type { RunPhase } from "../../schema/events/RunEvent.ts"
import { readState } from "../document/Documents.ts"
import { Redaction, type RedactionUnavailable } from "../redaction/Redaction.ts"
import type { RunRedactor } from "../redaction/RunRedactor.ts"
import { budgetProblem } from "../redaction/SecretBudget.ts"
import { declaredKeys, type Secret, valueSecrets } from "../redaction/SecretRule.ts"
import type { SecretText } from "../redaction/SecretText.ts"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { type CancelSignal, listenForCancel, notCancelled } from "./CancelSignal.ts"
import { deliverCredentials, type ProviderBlock } from "./CredentialDelivery.ts"
import { lockFileName, longestLock, type Preparation, prepareModule } from "./ModulePreparation.ts"
import { bindingProblem, type ReviewedPlan } from "./ProvidedBinding.ts"
import type { ProvidedSet } from "./ProvidedCredentials.ts"
import { providedParts } from "./ProvidedParts.ts"
import { providerStore, type ProviderStore } from "./ProviderStore.ts"
import { fileOperation, type HeldFolder, holdFolder, isInPlace, removeTree, type RunFileFailed } from "./RunFiles.ts"
import {
  createRunFolder,
  moduleFolder,
  planFileName,
  removeSecrets,
  type RunFolderPaths,
  runFolderPaths,
  sandboxPaths
} from "./RunFolder.ts"
import { defaultTiming, type RunJob, type RunTiming } from "./RunJob.ts"
import { type BuildArchive, type ExtractionFailed, RunPlace } from "./RunPlace.ts"
import { type RunnerFailure, runnerFailure } from "./RunnerFailure.ts"
import { RunnerSettings } from "./RunnerSettings.ts"
import { type RunReport, runReport } from "./RunReport.ts"
import { type RunSink, unbreakableSink } from "./RunSink.ts"
import { type ConcealingControl, type ServerPaths, withoutServerPaths } from "./ServerPaths.ts"
import type { StateFile } from "./StateFile.ts"
import { environmentsOf, type ToolAccess } from "./ToolEnvironment.ts"
import { runTool, type ToolEnd, type ToolOutput } from "./ToolRun.ts"
import { failWhenCancelled } from "./ToolSuccess.ts"
import { constants } from "node:fs"
import { access, mkdir, readdir, readlink, realpath, rm, stat, symlink } from "node:fs/promises"
import { RelativePath } from "../../schema/records/Primitives.ts"
import { isConfigurablePath } from "./CliConfiguration.ts"
import { lockedProviders } from "./ProviderLock.ts"

const architectures: ReadonlyMap<string, string> = new Map([
  ["x64", "amd64"],
  ["ia32", "386"]
])

/** The tool's name for this platform, as in the paths of packages. */
const packagePlatform = `${process.platform}_${architectures.get(process.arch) ?? process.arch}`

/**
 * The tool's provider folder, relative to the root module's folder. The path of a package is
 * `<host>/<namespace>/<type>/<version>/<platform>`.
 */
const installedFolder = join(".terraform", "providers")
const packageDepth = 5

const isBelow = (path: string, folder: string) => path.startsWith(`${folder}${sep}`)

const realPath = (path: string) => Effect.tryPromise(() => realpath(path)).pipe(Effect.orElseSucceed(() => undefined))

const isFolder = (path: string) =>
  Effect.tryPromise(() => stat(path)).pipe(
    Effect.map((entry) => entry.isDirectory()),
    Effect.orElseSucceed(() => false)
  )

interface RunProvidersRequest {
  /** The sandbox root, and the root module's folder below it. */
  readonly root: string
  readonly module: string
  /** The folder of earlier installations, at the same path inside the sandbox. */
  readonly store: ProviderStore | undefined
  /** A mirror from which every Run may install, at the same path inside the sandbox. */
  readonly mirror: string | undefined
}

/** The provider packages of one Run: packages from its lock, or packages that its own installation chose. */
interface RunProviders {
  /** Packages outside the Run's folder to which its programs have read access. */
  readonly visible: Effect.Effect<ReadonlyArray<string>>
  /**
   * Links into the Run's folder, as an installation would, the packages from the Run's lock that this machine has. Returns
   * false if the tool has to install, because the lock is not in the form that the tool writes or a package is missing.
   * Verifies nothing: before it starts any plugin, the tool compares each package with the hashes in the lock; for an apply,
   * it also compares the lock with the reviewed lock in the plan file.
   */
  readonly link: (lockText: string) => Effect.Effect<boolean, RunFileFailed>
  /** Moves the packages that the tool has installed to the store. Call it while none of the Run's programs is running. */
  readonly settle: Effect.Effect<void, RunFileFailed>
}

/** Lists the packages that the tool has installed in its provider folder. Ignores folders that are reached through a link. */
const installedIn = async (
  folder: string
): Promise<ReadonlyArray<{ readonly path: string; readonly isLink: boolean }>> => {
  let parents = [folder]
  for (let depth = 1; depth < packageDepth; depth++) {
    const entries = await Promise.all(parents.map((parent) => readdir(parent, { withFileTypes: true })))
    parents = entries.flat().flatMap((entry) => (entry.isDirectory() ? [join(entry.parentPath, entry.name)] : []))
  }
  const packages = await Promise.all(parents.map((parent) => readdir(parent, { withFileTypes: true })))
  return packages
    .flat()
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => ({ path: join(entry.parentPath, entry.name), isLink: entry.isSymbolicLink() }))
}

const doing = "link the providers"

const makeLink = (target: string, link: string) =>
  fileOperation(doing, async () => {
    await mkdir(dirname(link), { recursive: true, mode: 0o700 })
    await symlink(target, link)
  })

const makeRunProviders = Effect.fnUntraced(function* ({ mirror, module, root, store }: RunProvidersRequest) {
  const visible = yield* Ref.make<ReadonlyArray<string>>([])
  const show = (path: string) => Ref.update(visible, (paths) => (paths.includes(path) ? paths : [...paths, path]))
  const folder = join(root, module, installedFolder)

  /**
   * Returns true if both a path and the target of its links are in the mirror. A target outside the mirror is not visible in
   * the sandbox.
   */
  const isMirrored = Effect.fnUntraced(function* (path: string) {
    if (mirror === undefined || !isBelow(path, mirror)) return false
    const [realMirror, realPackage] = yield* Effect.all([realPath(mirror), realPath(path)])
    if (realMirror === undefined || realPackage === undefined || !isBelow(realPackage, realMirror)) return false
    return yield* isFolder(realPackage)
  })

  const link = Effect.fnUntraced(function* (lockText: string) {
    const providers = lockedProviders(lockText)
    if (providers === undefined) return false
    let missing = 0
    for (const { address, hashes, version } of providers) {
      const name = join(address, version, packagePlatform)
      const mirrored = mirror === undefined ? undefined : join(mirror, name)
      const found =
        mirrored !== undefined && (yield* isMirrored(mirrored))
          ? mirrored
          : yield* store?.find(hashes) ?? Effect.undefined
      if (found === undefined) {
        missing += 1
        continue
      }
      yield* makeLink(found, join(folder, name))
      yield* show(found)
    }
    return missing === 0
  })

  const settle = Effect.gen(function* () {
    // Check for links first: OpenTofu may execute a module's program during the installation, and that program could replace the
    // folder.
    if (!(yield* isInPlace(root, join(module, installedFolder)))) return
    const earlier = yield* Ref.get(visible)
    for (const { isLink, path } of yield* fileOperation(doing, () => installedIn(folder))) {
      if (isLink) {
        const target = yield* fileOperation(doing, () => readlink(path))
        if (earlier.includes(target) || (isAbsolute(target) && (yield* isMirrored(target)))) yield* show(target)
        continue
      }
      const kept = yield* store?.keep(path) ?? Effect.undefined
      if (kept === undefined) continue
      yield* fileOperation(doing, () => rm(path, { recursive: true, force: true }))
      yield* makeLink(kept, path)
      yield* show(kept)
    }
  })

  const providers: RunProviders = { visible: Ref.get(visible), link, settle }
  return providers
})

const isRelativePath = Schema.is(RelativePath)

/**
 * Checks a job before anything is written, and refuses a job that cannot succeed. Returns the path of the tool's program
 * with links resolved.
 */
const checkJob = Effect.fnUntraced(function* (job: RunJob, control: ConcealingControl) {
  const place = yield* RunPlace
  const invalid = (message: string) => runnerFailure("job_invalid", "prepare", message)
  if (!isAbsolute(control.runFolder)) return yield* invalid("The run folder must be an absolute path.")
  if (!isRelativePath(job.module.path)) {
    return yield* invalid(`The module path ${JSON.stringify(job.module.path)} is not canonical.`)
  }
  const mirror = (yield* place.mirror)?.path
  if (mirror !== undefined && !(isAbsolute(mirror) && isConfigurablePath(mirror))) {
    return yield* invalid("The provider mirror must be an absolute path without quotes, backslashes, $ or %.")
  }
  if (mirror !== undefined) {
    yield* fileOperation("find the provider mirror", () => readdir(mirror)).pipe(
      Effect.mapError(() => invalid(`The provider mirror ${mirror} is not a folder that can be read.`))
    )
  }
  // The sandbox allows only the program itself, so links to it must be resolved first.
  const program = yield* place
    .tool(job.tool)
    .pipe(Effect.mapError(({ message }) => runnerFailure("tool_missing", "prepare", message)))
  control.serverPaths.add(program, "<tool>")
  return yield* fileOperation("find the tool", async () => {
    await access(program, constants.X_OK)
    return await realpath(program)
  }).pipe(
    Effect.tap((real) => Effect.sync(() => control.serverPaths.add(real, "<tool>"))),
    Effect.mapError(() =>
      runnerFailure(
        "tool_missing",
        "prepare",
        `${job.tool.name} ${job.tool.version} is not at ${program}, or it cannot be executed. Install it or configure its path.`
      )
    )
  )
})

/** Reads each of the credentials that a job expects from this machine once, and returns them by name. */
const providedSets = Effect.fnUntraced(function* ({ credentials }: Pick<RunJob, "credentials">) {
  const place = yield* RunPlace
  const sets = new Map<string, ProvidedSet>()
  for (const { provided } of credentials) {
    if (provided === undefined || sets.has(provided)) continue
    const set = yield* place
      .provided(provided)
      .pipe(Effect.mapError(({ message }) => runnerFailure("prepare_failed", "prepare", message)))
    sets.set(provided, set)
  }
  return sets
})

export interface ToolCommand {
  readonly phase: RunPhase
  readonly args: ReadonlyArray<string>
  readonly access: ToolAccess
  readonly output: ToolOutput
  readonly timeout: Duration.Input
  readonly grace: Duration.Input
  /** Set for commands that read evidence of an apply. These commands run even if the apply was cancelled. */
  readonly isEvidence?: boolean
}

/** A run whose folder is prepared and whose sandbox is open. */
export interface RunSession {
  readonly paths: RunFolderPaths
  readonly timing: RunTiming
  readonly sink: RunSink
  readonly report: RunReport
  readonly redactor: RunRedactor
  readonly serverPaths: ServerPaths
  /** The secrets of the Run's inputs, except those that its base state already marks. */
  readonly secrets: ReadonlyArray<Secret>
  /** The secret strings in the job's credentials, which are kept for the apply of the job's plan. */
  readonly credentialSecrets: ReadonlyArray<SecretText>
  /** Redactor that finds this machine's own credentials in a text; absent if the Run uses none. */
  readonly provided: RunRedactor | undefined
  /** This machine's own credentials, by name. */
  readonly ownSets: ReadonlyMap<string, ProvidedSet>
  readonly cancel: CancelSignal
  readonly envNames: ReadonlyArray<string>
  readonly providerBlocks: ReadonlyArray<ProviderBlock>
  readonly base: StateFile | undefined
  /** The build archive to extract over the tree. */
  readonly build: BuildArchive | undefined
  /** Handles of the root module and of the folder with inputs and plan file, opened before any module code ran. */
  readonly module: HeldFolder
  readonly settings: HeldFolder
  /** Paths as the tool sees them. */
  readonly planFile: string
  readonly inputArguments: ReadonlyArray<string>
  /** True if the Run needs no installation, so the tool starts no plugin. */
  readonly uninstalled: boolean
  readonly providers: RunProviders
  /** True if the packages of the lock are on this machine and linked into the Run's folder. */
  readonly linked: boolean
  readonly tool: (command: ToolCommand) => Effect.Effect<ToolEnd, RunnerFailure>
}

export interface SessionRequest {
  readonly job: RunJob
  readonly control: ConcealingControl
  readonly inputs: Preparation["inputs"]
  readonly secrets: ReadonlyArray<Secret>
  /** Secrets that an earlier step found. They are also redacted, but are not treated as inputs of this Run. */
  readonly derived?: ReadonlyArray<Secret>
  readonly planFile: Preparation["planFile"]
  /**
   * For an apply: the reviewed plan. The apply is refused if this machine's credentials differ from the credentials that the
   * plan used.
   */
  readonly reviewed?: ReviewedPlan
  readonly lock: Preparation["lock"]
  /** Runs after the folder has been created and before it is filled. Returns the archive to extract over the tree. */
  readonly build: (start: SessionStart) => Effect.Effect<BuildArchive | undefined, RunnerFailure, Sandbox | RunPlace>
}

export type SessionStart = Pick<RunSession, "paths" | "timing" | "sink" | "report" | "redactor" | "cancel">

/** Returns the secret strings in a sensitive input. Splits a structured input into its parts. */
export const inputSecrets = (
  { variableTypes = {} }: Pick<RunJob, "variableTypes">,
  name: string,
  value: Redacted.Redacted<Schema.Json>
): ReadonlyArray<SecretText> =>
  valueSecrets(`var.${name}`, Redacted.value(value), declaredKeys(variableTypes[name] ?? ""))

/** Maximum number of marked strings to search for. A state or plan may mark more; the marks themselves still hide all of them. */
const mostDerived = { texts: 4_096, bytes: 512 * 1024 }

/**
 * Returns texts that a state or plan marks as sensitive. The shortest texts come first, because programs mostly print short
 * values.
 */
export const derivedSecrets = (origin: string, texts: ReadonlyArray<string>): ReadonlyArray<SecretText> => {
  let bytes = 0
  return [...new Set(texts)]
    .toSorted((left, right) => left.length - right.length)
    .slice(0, mostDerived.texts)
    .filter((text) => (bytes += text.length) <= mostDerived.bytes)
    .map((text) => ({ origin, value: Redacted.make(text) }))
}

const textOf = (value: Redacted.Redacted<string | Uint8Array>): Redacted.Redacted<string> => {
  const plain = Redacted.value(value)
  return Redacted.make(typeof plain === "string" ? plain : new TextDecoder().decode(plain))
}

const prepareFailed = ({ message }: RunFileFailed | ExtractionFailed | RedactionUnavailable) =>
  runnerFailure("prepare_failed", "prepare", message)

/** Waits until processes of the Run may start, or until the Run is cancelled. */
export const processesMayStart = ({ mayStart }: Pick<ConcealingControl, "mayStart">, cancel: CancelSignal) =>
  mayStart === undefined
    ? Effect.void
    : Effect.raceFirst(mayStart, cancel.requested).pipe(Effect.andThen(failWhenCancelled(cancel, "prepare")))

/**
 * Returns the credentials of a Run's Connections in the form that the tool receives. Refuses credentials that differ from
 * those of the reviewed plan.
 */
const deliveredCredentials = Effect.fnUntraced(function* (
  { control, job, reviewed, secrets }: SessionRequest,
  cwd: string
) {
  const ownSets = yield* providedSets(job)
  const changed = reviewed === undefined ? undefined : yield* bindingProblem(ownSets, reviewed)
  if (changed !== undefined) return yield* runnerFailure("job_invalid", "prepare", changed)
  const credentials = job.credentials.map((tuple) => {
    const { files, values } = ownSets.get(tuple.provided ?? "") ?? tuple
    return { ...tuple, files, values }
  })
  const delivered = deliverCredentials(credentials, {
    insideRoot: control.insideRoot,
    credentialFolder: sandboxPaths.credentials,
    moduleFolder: cwd
  })
  if (Result.isFailure(delivered)) return yield* runnerFailure("job_invalid", "prepare", delivered.failure)
  const delivery = delivered.success
  const excess = budgetProblem([...secrets, ...delivery.secrets])
  if (excess !== undefined) {
    return yield* runnerFailure("job_invalid", "prepare", `The inputs and Connections of this Run ${excess}.`)
  }
  const own = new Set(delivery.provided.map(({ value }) => value))
  const credentialSecrets = delivery.secrets
    .filter(({ value }) => !own.has(value))
    .map(({ origin, value }) => ({ origin, value: textOf(value) }))
  return { credentialSecrets, delivery, ownSets }
})

type Credentials = Effect.Success<ReturnType<typeof deliveredCredentials>>

/** Reads the base state, and adds every secret of the Run to its redactor. */
const revealTo = Effect.fnUntraced(function* (
  redactor: RunRedactor,
  { derived = [], job, secrets: given }: SessionRequest,
  { delivery, ownSets }: Pick<Credentials, "delivery" | "ownSets">
) {
  const redaction = yield* Redaction
  const provided =
    ownSets.size === 0
      ? undefined
      : yield* redaction.redactor(providedParts(ownSets.values())).pipe(Effect.mapError(prepareFailed))
  const secrets = [...given, ...delivery.secrets, ...derived, ...(job.stateSecrets ?? [])]
  yield* redactor.add(secrets)
  const base =
    job.state === undefined
      ? undefined
      : yield* readState(Redacted.value(job.state)).pipe(
          Effect.flatMap((state) => Effect.fromOption(state)),
          Effect.mapError(() => runnerFailure("job_invalid", "prepare", "The base state is not a state file."))
        )
  yield* redactor.add(derivedSecrets("state", base?.sensitiveTexts ?? []))
  return { base, provided, secrets }
})

interface PreparedFolder {
  readonly job: RunJob
  readonly prepared: Effect.Success<ReturnType<typeof prepareModule>>
  readonly cwd: string
  readonly mirror: string | undefined
}

/**
 * Opens the folders that svc reads after module code has run, and links the packages of the lock. Call it before the sandbox
 * opens, because opening it may hand the folder to another user.
 */
const holdFolders = Effect.fnUntraced(function* (
  paths: RunFolderPaths,
  { cwd, job, mirror, prepared }: PreparedFolder
) {
  const { providerCache } = yield* RunnerSettings
  const { level } = (yield* Sandbox).status
  const module = yield* holdFolder(prepared.rootFolder)
  const settings = yield* holdFolder(posix.join(paths.sandbox, sandboxPaths.settings))
  const providers = yield* makeRunProviders({
    root: paths.sandbox,
    module: cwd,
    store:
      level === "user_landlock" || providerCache === undefined
        ? undefined
        : providerStore(providerCache, job.workspaceId),
    mirror
  })
  const lock = yield* module.read(lockFileName, longestLock)
  const linked =
    !prepared.uninstalled && Option.isSome(lock) && (yield* providers.link(new TextDecoder().decode(lock.value)))
  return { linked, module, providers, settings }
}, Effect.mapError(prepareFailed))

interface ToolPlace {
  readonly cwd: string
  readonly environments: ReturnType<typeof environmentsOf>
  readonly mirror: string | undefined
  readonly network: boolean
  readonly program: string
  readonly providers: RunProviders
}

/** Returns the function that runs the tool in the sandbox of a session. */
const toolIn = (
  session: Parameters<typeof runTool>[0],
  { cwd, environments, mirror, network, program, providers }: ToolPlace
) =>
  Effect.fnUntraced(function* ({ access, args, grace, isEvidence = false, output, phase, timeout }: ToolCommand) {
    const isInstall = access === "install"
    const readOnly = [
      ...(yield* providers.visible),
      // An installation may choose any package in the mirror.
      ...(isInstall && mirror !== undefined ? [mirror] : [])
    ]
    return yield* runTool(isEvidence ? { ...session, cancel: notCancelled } : session, {
      phase,
      command: {
        argv: [program, ...args],
        cwd,
        environment: environments[access],
        network: access !== "none" && network,
        readOnly,
        isInstallation: isInstall
      },
      output,
      timeout,
      grace
    }).pipe(Effect.mapError(({ message }) => runnerFailure("tool_missing", phase, message)))
  })

/**
 * Prepares the run folder and opens its sandbox. Performs every check before any module code runs. When the scope closes, closes
 * the sandbox and removes inputs and credentials from disk.
 */
export const openSession = Effect.fn("RunSession.open")(function* (
  request: SessionRequest
): Effect.fn.Return<RunSession, RunnerFailure, Sandbox | Redaction | RunPlace | Scope.Scope> {
  const { control, job } = request
  const place = yield* RunPlace
  const mirror = yield* place.mirror
  const sandbox = yield* Sandbox
  const redaction = yield* Redaction
  const { insideRoot, serverPaths } = control
  const sink = withoutServerPaths(unbreakableSink(control.sink), serverPaths)
  const redactor = yield* redaction.redactor([], job.addressKey).pipe(Effect.mapError(prepareFailed))
  const report = runReport(sink, redactor, serverPaths)
  const paths = runFolderPaths(control.runFolder)
  const timing = job.timing ?? defaultTiming
  const cancel = yield* listenForCancel(control.cancelRequested)
  yield* report.phase("prepare")
  const program = yield* checkJob(job, control)

  const cwd = moduleFolder(job.module.path)
  const { credentialSecrets, delivery, ownSets } = yield* deliveredCredentials(request, cwd)
  const { base, provided, secrets } = yield* revealTo(redactor, request, { delivery, ownSets })

  yield* createRunFolder(paths).pipe(Effect.mapError(prepareFailed))
  yield* Effect.addFinalizer(() => Effect.ignore(removeSecrets(paths)))
  // The sandbox is already closed, so no process in it can still use the folder.
  yield* Effect.addFinalizer(() => Effect.ignore(removeTree(paths.processes, "remove the note of the processes")))
  const build = yield* request.build({ paths, timing, sink, report, redactor, cancel })
  const prepared = yield* prepareModule(paths, job, {
    delivery,
    inputs: request.inputs,
    base,
    build,
    planFile: request.planFile,
    lock: request.lock,
    wantsTree: sandbox.trustsTrees
  }).pipe(Effect.mapError(prepareFailed))
  yield* failWhenCancelled(cancel, "prepare")

  const { linked, module, providers, settings } = yield* holdFolders(paths, {
    job,
    prepared,
    cwd,
    mirror: mirror?.path
  })
  yield* processesMayStart(control, cancel)
  const box = yield* sandbox
    .open({
      root: paths.sandbox,
      temporary: sandboxPaths.temporary,
      processNote: paths.processes,
      requirements: job.demands,
      ...(prepared.moduleTree === undefined ? {} : { moduleTree: prepared.moduleTree }),
      readOnly: program.startsWith("/usr/") ? [] : [program],
      lent: mirror === undefined ? [] : [mirror.path]
    })
    .pipe(Effect.mapError(({ message }) => runnerFailure("sandbox_refused", "prepare", message)))

  const environments = environmentsOf(delivery, {
    insideRoot,
    temporary: box.temporary,
    cwd,
    isUninstalled: prepared.uninstalled
  })

  const tool = toolIn(
    { box, sink, report, redactor, cancel },
    { cwd, environments, mirror: mirror?.path, network: job.network ?? true, program, providers }
  )

  return {
    paths,
    timing,
    sink,
    report,
    redactor,
    serverPaths,
    secrets,
    credentialSecrets,
    provided,
    ownSets,
    cancel,
    envNames: Object.keys(delivery.environment).sort(),
    providerBlocks: delivery.blocks,
    base,
    build,
    module,
    settings,
    planFile: posix.join(insideRoot, sandboxPaths.settings, planFileName),
    inputArguments: prepared.hasInputs ? [`-var-file=${posix.join(insideRoot, sandboxPaths.inputs)}`] : [],
    uninstalled: prepared.uninstalled,
    providers,
    linked,
    tool
  }
})
