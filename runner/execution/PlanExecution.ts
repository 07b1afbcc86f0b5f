import { Effect, Option, Redacted, type Scope } from "effect"
import type { RunDiagnostic } from "../../schema/records/Run.ts"
import { readDocument } from "../document/Documents.ts"
import { Redaction } from "../redaction/Redaction.ts"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { sha256 } from "./Digest.ts"
import { initialize } from "./Initialization.ts"
import { lockFileName, longestLock } from "./ModulePreparation.ts"
import type { PlanDocument } from "./PlanDocument.ts"
import { checkProviderArguments } from "./ProviderArguments.ts"
import { markedTexts, unmarkedOutputs } from "./OutputPrivacy.ts"
import {
  isDeclaredSensitive,
  plannedSecrets,
  type PlanProjection,
  planSensitiveTexts,
  projectPlan
} from "./PlanProjection.ts"
import { providedBindings } from "./ProvidedBinding.ts"
import { refuseProvided } from "./ProvidedInPlan.ts"
import { removeTree } from "./RunFiles.ts"
import { planFileName } from "./RunFolder.ts"
import type { DriftJob, PlanJob, PlanSecrets, RunJob } from "./RunJob.ts"
import { type BuildArchive, RunPlace } from "./RunPlace.ts"
import { requiredBuild } from "./RequiredBuild.ts"
import { type RunnerFailure, runnerFailure } from "./RunnerFailure.ts"
import type { DriftOutcome, PlanOutcome } from "./RunOutcome.ts"
import {
  derivedSecrets,
  inputSecrets,
  openSession,
  processesMayStart,
  type RunSession,
  type SessionStart
} from "./RunSession.ts"
import { type ConcealingControl, plannedValue } from "./ServerPaths.ts"
import { runSourceBuild } from "./SourceBuild.ts"
import { requireSuccess } from "./ToolSuccess.ts"

const longestPlan = 512 * 1024 * 1024
const longestDocument = 512 * 1024 * 1024

/** The tool's exit code for "there are changes". */
const changedCode = 2

interface Planned {
  readonly file: Uint8Array
  readonly projection: PlanProjection
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
  return yield* readDocument("plan", bytes).pipe(
    Effect.mapError(() => unreadable("The tool's description of the plan is not in the expected format (version 1)."))
  )
})

/** Reads a file that must exist in the sandbox. */
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

/** The secrets that Outputs without their earlier mark repeat; an Output's own earlier value is not among them. */
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

/** `isSent`: the plan file leaves this machine. */
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
  const document = yield* describePlan(session, job, isSent)
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
    // The tree contains the state in clear text, and is not needed once the plan has been read.
    Effect.tap((session) =>
      Effect.addFinalizer(() => Effect.ignore(removeTree(session.paths.sandbox, "remove the plan's tree")))
    )
  )

/** Computes a reviewable plan. See `ModuleRunner.plan`. */
export const executePlan = Effect.fnUntraced(function* (
  job: PlanJob,
  control: ConcealingControl
): Effect.fn.Return<PlanOutcome, RunnerFailure, Sandbox | Redaction | RunPlace | Scope.Scope> {
  const sandbox = yield* Sandbox
  const place = yield* RunPlace
  const { sourceBuild } = job
  const session = yield* openPlanSession(job, control, (start) =>
    sourceBuild === undefined
      ? Effect.undefined
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
    flags: job.mode === "destroy" ? ["-destroy"] : [],
    isSent: true
  })
  yield* session.report.planSummary(planned.projection.summary)
  const planDigest = sha256(planned.file)
  const secrets = { inputs: secretsOf(job), credentials: session.credentialSecrets, marked: planned.marked }
  return {
    planFile: Redacted.make(planned.file),
    planDigest,
    secrets:
      session.ownSets.size === 0
        ? secrets
        : { ...secrets, provided: yield* providedBindings(session.ownSets, planDigest) },
    ...lockEvidence(planned.lockText),
    ...planned.projection,
    hasChanges: planned.hasChanges,
    applyable: planned.applyable,
    ...(session.build === undefined ? {} : { build: yield* place.keepBuild(session.build) }),
    tool: { name: job.tool.name, version: job.tool.version },
    sandboxLevel: sandbox.status.level,
    envNames: session.envNames,
    diagnostics: planned.diagnostics
  }
})

/** Compares the state with the real objects and changes nothing. See `ModuleRunner.driftCheck`. */
export const executeDriftCheck = Effect.fnUntraced(function* (
  job: DriftJob,
  control: ConcealingControl
): Effect.fn.Return<DriftOutcome, RunnerFailure, Sandbox | Redaction | RunPlace | Scope.Scope> {
  const sandbox = yield* Sandbox
  const session = yield* openPlanSession(job, control, () => requiredBuild(job.build))
  const planned = yield* computePlan(session, job, { flags: ["-refresh-only"], isSent: false })
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
