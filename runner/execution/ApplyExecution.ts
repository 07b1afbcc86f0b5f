import { rm } from "node:fs/promises"
import { Effect, Option, Redacted, type Scope } from "effect"
import { readDocument } from "../document/Documents.ts"
import { Redaction } from "../redaction/Redaction.ts"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { openJournal, possiblyCreated } from "./ApplyJournal.ts"
import { readApplyRecord, writeApplyRecord } from "./ApplyRecord.ts"
import { sha256 } from "./Digest.ts"
import { initialize } from "./Initialization.ts"
import { worksUninstalled } from "./Installation.ts"
import { type LeftState, readLeftState } from "./LeftState.ts"
import { markedTexts, unmarkedOutputs, withheldOutputs } from "./OutputPrivacy.ts"
import { fileOperation, type RunFileFailed } from "./RunFiles.ts"
import { runFolderPaths } from "./RunFolder.ts"
import { requiredBuild } from "./RequiredBuild.ts"
import type { ApplyJob } from "./RunJob.ts"
import type { RunPlace } from "./RunPlace.ts"
import { type RunnerFailure, runnerFailure } from "./RunnerFailure.ts"
import type { ApplyExit, ApplyOutcome, StateOutput } from "./RunOutcome.ts"
import { derivedSecrets, inputSecrets, openSession, type RunSession } from "./RunSession.ts"
import { type ConcealingControl, plannedValue } from "./ServerPaths.ts"
import type { StateFile } from "./StateFile.ts"
import { watchState } from "./StateWatch.ts"
import type { ToolEnd } from "./ToolRun.ts"
import { failWhenCancelled } from "./ToolSuccess.ts"

const longestOutputs = 64 * 1024 * 1024

const prepareFailed = ({ message }: RunFileFailed) => runnerFailure("prepare_failed", "prepare", message)

/** Asks the tool for the Outputs, because svc cannot read a state that the tool has encrypted. */
const askForOutputs = Effect.fnUntraced(function* (session: RunSession) {
  const end = yield* session.tool({
    phase: "outputs",
    args: ["output", "-json"],
    access: "none",
    output: { kind: "document", maxBytes: longestOutputs },
    timeout: session.timing.show,
    grace: session.timing.planGrace,
    isEvidence: true
  })
  if (end.code !== 0 || end.document === undefined) return []
  const decoded = yield* Effect.option(readDocument("outputs", Redacted.value(end.document)))
  return Object.entries(Option.getOrElse(decoded, () => ({}))).map(
    ([name, { value, type, sensitive = false }]): StateOutput => ({
      name,
      type,
      value: Redacted.make(value),
      sensitive
    })
  )
})

const readOutputs = (session: RunSession, state: StateFile | undefined) => {
  if (state === undefined) return Effect.succeed([])
  return session.report
    .phase("outputs")
    .pipe(
      Effect.andThen(
        state.outputs === undefined
          ? askForOutputs(session).pipe(Effect.orElseSucceed(() => []))
          : Effect.succeed(state.outputs)
      )
    )
}

/**
 * Returns the Outputs, with a mark on each Output that repeats a secret. If an Output is no longer declared sensitive, its
 * previous value is not treated as a secret.
 */
const publishableOutputs = Effect.fnUntraced(function* (
  session: RunSession,
  state: StateFile | undefined,
  found: ReadonlyArray<StateOutput>
) {
  const outputs = found.map((output) => ({
    ...output,
    value: Redacted.make(plannedValue(session.serverPaths, Redacted.value(output.value)))
  }))
  const shown = new Set(outputs.filter(({ sensitive }) => !sensitive).map(({ name }) => name))
  const unmarked = unmarkedOutputs(session.base, (name) => shown.has(name))
  const judged = yield* withheldOutputs(session.redactor, outputs)
  if (unmarked.size === 0) return judged
  const secrets = [
    ...session.secrets,
    ...derivedSecrets("state", [...markedTexts(session.base, unmarked), ...markedTexts(state, new Set())])
  ]
  const redaction = yield* Redaction
  const again = yield* redaction.redactor(secrets).pipe(
    Effect.flatMap((redactor) =>
      withheldOutputs(
        redactor,
        outputs.filter(({ name }) => unmarked.has(name))
      )
    ),
    // If the check fails, publish none of these Outputs.
    Effect.catch((problem) => Effect.as(Effect.logError(problem.message), [])),
    Effect.scoped
  )
  const withoutMark = new Map(again.map((output) => [output.name, output]))
  return judged.map((output) => withoutMark.get(output.name) ?? output)
})

const exitOf = (end: ToolEnd, left: LeftState): ApplyExit => {
  // Ignore the interrupt if the exit code is 0, because in that case the tool finished just before the interrupt.
  if (end.ending !== "exited" && end.code !== 0) return end.ending
  const isWhole = Option.isSome(left.found) && left.problem === undefined
  return end.code === 0 && isWhole ? "succeeded" : "failed"
}

/** Returns true if the state shows a change: a new serial, or resources if there was no state. */
const isChanged = (base: StateFile | undefined, left: LeftState): boolean =>
  left.problem !== undefined ||
  Option.match(left.found, {
    onNone: () => false,
    onSome: ({ state }) => (base === undefined ? state.resourceCount > 0 : state.serial !== base.serial)
  })

const refuseSecondStart = Effect.fnUntraced(function* (path: string) {
  const record = yield* readApplyRecord(path).pipe(Effect.mapError(prepareFailed))
  if (Option.isSome(record)) {
    return yield* runnerFailure(
      "already_started",
      "prepare",
      "This apply was started before and is never run twice. Recover what it left, then plan again."
    )
  }
})

/**
 * Returns true if the apply can start without an installation: its plan needed no packages, or the packages in the plan's
 * lock are already linked into the run folder.
 */
const hasPackages = ({ linked, uninstalled }: RunSession, { lockText, tool }: ApplyJob) =>
  uninstalled || (linked && lockText !== undefined && worksUninstalled(tool))

/** Waits until the start is recorded. If the Run is cancelled first, the tool does not start. */
const recordedStart = (session: RunSession, { recordStart }: ConcealingControl) =>
  recordStart === undefined
    ? Effect.void
    : Effect.raceFirst(recordStart, session.cancel.requested).pipe(
        Effect.andThen(failWhenCancelled(session.cancel, "prepare"))
      )

const runApply = Effect.fnUntraced(function* (session: RunSession, job: ApplyJob, control: ConcealingControl) {
  const { paths, report, sink, base } = session
  const journal = yield* openJournal(paths.journal).pipe(Effect.mapError(prepareFailed))
  yield* recordedStart(session, control)
  const printed: Array<Uint8Array> = []
  yield* writeApplyRecord(paths.applyRecord, {
    version: 1,
    modulePath: job.module.path,
    ...(base === undefined ? {} : { base: { lineage: base.lineage, serial: base.serial } })
  }).pipe(Effect.mapError(prepareFailed))

  yield* report.phase("apply")
  const end = yield* watchState({
    folder: session.module,
    base,
    baseBytes: job.state === undefined ? undefined : Redacted.value(job.state),
    checkpointPath: paths.checkpoint,
    sink,
    // Redact values that the apply has just created: the provider's next error may contain them.
    onState: ({ sensitiveTexts }) => session.redactor.add(derivedSecrets("state", sensitiveTexts))
  }).pipe(
    Effect.andThen(failWhenCancelled(session.cancel, "apply")),
    Effect.andThen(
      session.tool({
        phase: "apply",
        args: ["apply", "-input=false", "-no-color", "-json", ...session.inputArguments, session.planFile],
        access: "credentials",
        output: {
          kind: "messages",
          onMessage: (message) => {
            if (message._tag === "EmergencyState") printed.unshift(message.state)
            return journal.note(message)
          }
        },
        timeout: session.timing.apply,
        grace: session.timing.applyGrace
      })
    ),
    // The tool never started, so nothing changed and there is nothing to recover.
    Effect.tapError(() => Effect.promise(() => rm(paths.applyRecord, { force: true }))),
    Effect.scoped
  )
  return { end, printed, journal: yield* journal.summary }
})

/** Applies a reviewed plan. See `ModuleRunner.apply`. */
export const executeApply = Effect.fnUntraced(function* (
  job: ApplyJob,
  control: ConcealingControl
): Effect.fn.Return<ApplyOutcome, RunnerFailure, Sandbox | Redaction | RunPlace | Scope.Scope> {
  const sandbox = yield* Sandbox
  const paths = runFolderPaths(control.runFolder)
  yield* refuseSecondStart(paths.applyRecord)
  const digest = sha256(Redacted.value(job.planFile))
  if (digest !== job.planDigest) {
    return yield* runnerFailure(
      "job_invalid",
      "prepare",
      `The plan file has the digest ${digest} but ${job.planDigest} was reviewed. Plan again.`
    )
  }
  // Remove files of an earlier attempt that stopped before its tool started. They would be mistaken for files of this apply.
  yield* Effect.forEach(
    [paths.journal, paths.checkpoint],
    (path) => fileOperation("remove an earlier attempt's notes", () => rm(path, { force: true })),
    { discard: true }
  ).pipe(Effect.mapError(prepareFailed))

  const ephemeral = job.ephemeralVariables ?? {}
  const session = yield* openSession({
    job,
    control,
    inputs: Object.fromEntries(
      Object.entries(ephemeral).map(([name, value]) => [name, { value, type: job.ephemeralTypes?.[name] }])
    ),
    secrets: [
      ...Object.entries(ephemeral).flatMap(([name, value]) => inputSecrets(job, name, value)),
      ...job.secrets.inputs,
      ...job.secrets.credentials
    ],
    derived: job.secrets.marked,
    planFile: job.planFile,
    reviewed: { planDigest: job.planDigest, bindings: job.secrets.provided ?? [] },
    lock: "given",
    build: () => requiredBuild(job.build)
  })
  const init = hasPackages(session, job) ? undefined : yield* initialize(session, job, "readonly")
  yield* failWhenCancelled(session.cancel, "init")
  const { end, printed, journal } = yield* runApply(session, job, control)

  yield* session.report.phase("state")
  const left = yield* readLeftState({
    folder: session.module,
    base: session.base,
    checkpointPath: session.paths.checkpoint,
    printed
  })
  const state = Option.getOrUndefined(left.found)
  if (state !== undefined && control.stateFound !== undefined) yield* control.stateFound(state.bytes)
  const exit = exitOf(end, left)
  return {
    exit,
    ...(state === undefined
      ? {}
      : {
          state: state.bytes,
          lineage: state.state.lineage,
          serial: state.state.serial,
          resourceCount: state.state.resourceCount
        }),
    ...(left.problem === undefined ? {} : { stateProblem: left.problem }),
    ...(left.rejected === undefined ? {} : { rejectedState: left.rejected }),
    outputs: yield* publishableOutputs(session, state?.state, yield* readOutputs(session, state?.state)),
    changedAnything: journal.started.length > 0 || isChanged(session.base, left),
    possiblyCreated:
      exit === "succeeded" ? journal.possiblyCreated : possiblyCreated(journal, state?.state, job.addressKey),
    sandboxKilled: end.sandboxKilled,
    ...(end.limit === undefined ? {} : { limit: end.limit }),
    tool: { name: job.tool.name, version: job.tool.version },
    sandboxLevel: sandbox.status.level,
    envNames: session.envNames,
    diagnostics: [...(init?.diagnostics ?? []), ...end.diagnostics]
  }
})
