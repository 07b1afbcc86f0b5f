import { Effect, Fiber, FileSystem, Redacted, Result, Schedule, Schema } from "effect"
import type { JobOffer } from "../../schema/agent/AgentJob.ts"
import { ModuleRunner } from "../execution/ModuleRunner.ts"
import { replaceDurably, type RunFileFailed } from "../execution/RunFiles.ts"
import { runFolderPaths } from "../execution/RunFolder.ts"
import { ApplyJob, DriftJob, PlanJob } from "../execution/RunJob.ts"
import { type RunnerFailure, runnerFailure } from "../execution/RunnerFailure.ts"
import type { ApplyOutcome, PlanOutcome } from "../execution/RunOutcome.ts"
import { BuildStore } from "../execution/BuildStore.ts"
import type { RunControl } from "../execution/RunPlace.ts"
import { AgentParty } from "./AgentParty.ts"
import { resultUpload, sealedContents } from "./ResultUpload.ts"
import { JobFiles } from "./JobFiles.ts"
import { JobResult } from "./JobResult.ts"
import type { AgentRunFolder } from "./AgentRunFolder.ts"
import { sealedStream } from "./SealedFile.ts"

const encodeResult = Schema.encodeEffect(Schema.fromJsonString(JobResult))

/**
 * A decrypted job, without its state and plan file. `keys` are the keys that opened the job; they also open the files in its
 * offer.
 */
export type OpenedJob = { readonly keys: ReadonlyArray<CryptoKey> } & (
  | { readonly kind: "plan"; readonly job: PlanJob }
  | { readonly kind: "apply"; readonly job: ApplyJob }
  | { readonly kind: "drift_check"; readonly job: DriftJob }
)

const decoders = {
  plan: Schema.decodeEffect(Schema.fromJsonString(PlanJob)),
  apply: Schema.decodeEffect(Schema.fromJsonString(ApplyJob)),
  drift_check: Schema.decodeEffect(Schema.fromJsonString(DriftJob))
}

/** An offer that this agent cannot execute. `message` is shown with the waiting Run. */
export class OfferUnusable extends Schema.TaggedError<OfferUnusable>()("OfferUnusable", { message: Schema.String }) {}

/**
 * Opens the job of an offer that this agent's server signed. Drops the decoder's error message, because it may contain a
 * value.
 */
export const openedJob = Effect.fnUntraced(function* (
  offer: JobOffer
): Effect.fn.Return<OpenedJob, OfferUnusable, AgentParty> {
  const party = yield* AgentParty
  if (!(yield* party.isOffered(offer))) {
    return yield* new OfferUnusable({
      message: "The offer is not signed by the server at which this agent was enrolled. Nothing of it was opened."
    })
  }
  const { bytes, keys } = yield* party
    .open(party.received(offer, "job"), offer.sealedJob)
    .pipe(Effect.mapError(({ message }) => new OfferUnusable({ message })))
  const text = new TextDecoder().decode(bytes)
  const unreadable = () =>
    new OfferUnusable({ message: "The job is in a form that this version of the agent cannot read." })
  switch (offer.kind) {
    case "plan":
      return { keys, kind: "plan", job: yield* decoders.plan(text).pipe(Effect.mapError(unreadable)) }
    case "apply":
      return { keys, kind: "apply", job: yield* decoders.apply(text).pipe(Effect.mapError(unreadable)) }
    case "drift_check":
      return { keys, kind: "drift_check", job: yield* decoders.drift_check(text).pipe(Effect.mapError(unreadable)) }
  }
})

const messageOf = (problem: unknown): string =>
  typeof problem === "object" && problem !== null && "message" in problem ? String(problem.message) : "Unknown error."

const fetchFailed = (problem: unknown) => runnerFailure("prepare_failed", "fetch", messageOf(problem))

/**
 * Adds the secret files of the job, and puts the other files where the runner expects them. The server sends no file for a
 * Run before it is `accepted`.
 */
const withFiles = Effect.fnUntraced(function* (
  room: AgentRunFolder,
  offer: JobOffer,
  opened: OpenedJob,
  accepted: Effect.Effect<void>
) {
  const files = yield* JobFiles
  const provided = files.provide(room, offer, opened.job.build, accepted)
  const secret = (kind: "state" | "plan_file", digest: string) =>
    files.secret(room, offer, opened.keys, kind, digest, accepted)
  const { planFile, state } = yield* Effect.all(
    {
      provided,
      state: offer.state === undefined ? Effect.undefined : secret("state", offer.state),
      planFile: opened.kind === "apply" ? secret("plan_file", offer.planFile ?? "") : Effect.undefined
    },
    { concurrency: "unbounded" }
  )
  const base = state === undefined ? {} : { state: Redacted.make(state) }
  if (opened.kind === "plan") return { ...opened, job: { ...opened.job, ...base } }
  if (opened.kind === "drift_check") return { ...opened, job: { ...opened.job, ...base } }
  return { ...opened, job: { ...opened.job, ...base, planFile: Redacted.make(planFile ?? new Uint8Array(0)) } }
})

const executed = Effect.fnUntraced(function* (opened: OpenedJob, control: RunControl) {
  const runner = yield* ModuleRunner
  switch (opened.kind) {
    case "plan":
      return yield* Effect.map(runner.plan(opened.job, control), (outcome) => ({ kind: "plan" as const, outcome }))
    case "apply":
      return yield* Effect.map(runner.apply(opened.job, control), (outcome) => ({ kind: "apply" as const, outcome }))
    case "drift_check":
      return yield* Effect.map(runner.driftCheck(opened.job, control), (outcome) => ({
        kind: "drift_check" as const,
        outcome
      }))
  }
})

type Executed = Effect.Success<ReturnType<typeof executed>>

const nothing = Redacted.make(new Uint8Array(0))

type State = Redacted.Redacted<Uint8Array>

/**
 * Persists an apply's state as soon as the tool reports it. If the tool could only print the state, this is the only copy.
 * From then on the agent can submit the state, whatever happens to the Run.
 */
const stateKeeper = Effect.fnUntraced(function* (room: AgentRunFolder) {
  const scope = yield* Effect.scope
  const write = (state: State) =>
    Effect.uninterruptible(
      replaceDurably(runFolderPaths(room.runFolder).checkpoint, Redacted.value(state), "keep the state")
    )
  let keeping: Fiber.Fiber<void, RunFileFailed> | undefined
  return {
    begin: (state: State) =>
      Effect.map(Effect.forkIn(write(state), scope, { startImmediately: true }), (fiber) => {
        keeping = fiber
      }),
    done: (state: State) =>
      Effect.suspend(() =>
        keeping === undefined ? write(state) : Effect.catch(Fiber.join(keeping), () => write(state))
      )
  }
})

/**
 * Seals the tool's results for the server. Returns once the state is on disk; until then, the tool is treated as still
 * running.
 */
const sealedOutcome = Effect.fnUntraced(function* (
  room: AgentRunFolder,
  done: Executed,
  isKept: (state: State) => Effect.Effect<void, RunFileFailed>
) {
  if (done.kind === "drift_check") {
    return yield* sealedResult(room, { kind: "drift_check", status: "ended", outcome: done.outcome })
  }
  if (done.kind === "plan") {
    const { build, planFile } = done.outcome
    const outcome: PlanOutcome = { ...done.outcome, planFile: nothing }
    return resultUpload(
      yield* Effect.all(
        {
          outcome: sealedText(room, { kind: "plan", status: "ended", outcome }),
          planFile: sealedContents(room, "plan_file", Redacted.value(planFile)),
          build: build === undefined ? Effect.undefined : sealedBuild(room, build)
        },
        { concurrency: "unbounded" }
      )
    )
  }
  const { state, ...rest } = done.outcome
  const outcome: ApplyOutcome = rest
  const text = sealedText(room, { kind: "apply", status: "ended", outcome })
  if (state === undefined) return resultUpload({ outcome: yield* text })
  const files = Effect.all(
    { outcome: text, state: sealedContents(room, "state", Redacted.value(state)) },
    { concurrency: "unbounded" }
  )
  const [sealed] = yield* Effect.all([files, isKept(state)], { concurrency: "unbounded" })
  return resultUpload(sealed)
})

const sealedBuild = Effect.fnUntraced(function* (room: AgentRunFolder, build: { digest: string; sizeBytes: number }) {
  const party = yield* AgentParty
  const files = yield* FileSystem.FileSystem
  const found = yield* Effect.flatMap(BuildStore, (builds) => builds.find(build)).pipe(
    Effect.flatMap(Effect.fromOption)
  )
  return yield* sealedStream(
    room.sealed("build"),
    party.serverKey,
    party.sent(room.claim, "build"),
    files.stream(found.path)
  )
})

const sealedText = (room: AgentRunFolder, result: JobResult) =>
  Effect.orDie(encodeResult(result)).pipe(
    Effect.flatMap((text) => sealedContents(room, "outcome", new TextEncoder().encode(text)))
  )

/** Seals the result of a job, without the files that are sent separately. */
export const sealedResult = (room: AgentRunFolder, result: JobResult) =>
  Effect.map(sealedText(room, result), (outcome) => resultUpload({ outcome }))

/** Retries a write until there is enough disk space, because the results of a Run exist nowhere else. */
export const untilDiskTakesIt = <A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  write.pipe(
    Effect.tapError((problem) => Effect.logError(`The result of a Run cannot be written yet. ${messageOf(problem)}`)),
    Effect.retry(Schedule.spaced("5 seconds"))
  )

/**
 * Executes a job to completion, and seals its result. Fetches nothing before the Run is `accepted`. `leaseWasOver` is true
 * if the lease expired; in that case, a plan or drift check failed because its tool was killed.
 */
export const executeJob = Effect.fn("JobExecution.execute")(function* (
  room: AgentRunFolder,
  offer: JobOffer,
  opened: OpenedJob,
  control: RunControl,
  { accepted, leaseWasOver }: { readonly accepted: Effect.Effect<void>; readonly leaseWasOver: () => boolean }
) {
  const keeper = yield* stateKeeper(room)
  yield* control.sink.event("run.phase", { phase: "fetch" })
  const done = yield* withFiles(room, offer, opened, accepted).pipe(
    Effect.mapError(fetchFailed),
    Effect.flatMap((job) => executed(job, { ...control, stateFound: keeper.begin })),
    Effect.result
  )
  if (Result.isSuccess(done)) return yield* untilDiskTakesIt(sealedOutcome(room, done.success, keeper.done))
  if (offer.kind !== "apply" && leaseWasOver()) {
    return yield* untilDiskTakesIt(sealedResult(room, { kind: offer.kind, status: "left" }))
  }
  const failure: RunnerFailure = done.failure
  return yield* untilDiskTakesIt(sealedResult(room, { kind: offer.kind, status: "failed", failure }))
})
