import { intFlag } from "../ValueFlags.ts"
import { Effect, Option, Result, Schedule } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { CapsuleLook } from "../../../schema/api/CapsulesApi.ts"
import { type CapsuleId, StateVersionId } from "../../../schema/records/Ids.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, print } from "../Output.ts"
import { capsuleArgument } from "./CapsuleArgument.ts"
import { patiently, waitAtMost } from "./Patience.ts"
import { showEnd } from "./PlanView.ts"
import { progress } from "./Progress.ts"
import { onServer, Remote } from "./Remote.ts"
import { idempotencyKeyFlag, keyHeaders, waitTimeoutFlag, workspaceFlags } from "./RemoteFlags.ts"
import { awaitRun, endOf, hasDecision } from "./RunEnd.ts"
import { detailedExitcode, exitCodes } from "../ExitCodes.ts"
import { inWords, RemoteFailed } from "./RemoteFailed.ts"
import { shortCommit } from "./Rows.ts"
import { capsuleNamed, stateVersionsOf } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const waitFlag = Flag.Boolean("wait").pipe(
  Flag.withDescription("Follow the Run until it finishes or needs approval; --no-wait prints the Run and exits"),
  Flag.withDefault(true)
)

/** Flags that every command that starts a Run has. */
export const runFlags = { ...workspaceFlags, wait: waitFlag, waitTimeout: waitTimeoutFlag }

/** Flags of commands that start a Run to find out what would change. */
export const changeFlags = {
  ...runFlags,
  detailedExitcode: Flag.Boolean(detailedExitcode).pipe(
    Flag.withDescription("Exit with the tool's codes: 0 no changes, 1 refused or failed, 2 changes"),
    Flag.withDefault(false)
  )
}

/** Flags of every command that creates a plan for review. */
export const planFlags = {
  ...changeFlags,
  discardIfEmpty: Flag.Boolean("discard-if-empty").pipe(
    Flag.withDescription("Discard a plan without changes, so that it does not wait for approval"),
    Flag.withDefault(false)
  )
}

interface Waiting {
  readonly json: boolean
  /** Additional members of the `--json` result. */
  readonly about?: Readonly<Record<string, unknown>>
  readonly wait: boolean
  readonly waitTimeout: Option.Option<number>
  readonly discardIfEmpty?: boolean
}

/** Discards a plan that contains no changes. */
const discarded = Effect.fnUntraced(function* (run: Run) {
  const { runs } = yield* SvcClient
  const payload = { reason: "Nothing would change." }
  return (yield* runs.cancel({ params: { runId: run.id }, payload })).run
})

/** Waits for a new Run, shows its plan or result, and exits with the corresponding code. */
export const planned = Effect.fn("planned")(function* (
  run: Run,
  { about = {}, discardIfEmpty = false, json, wait, waitTimeout }: Waiting
) {
  if (!wait) {
    return yield* print(
      json,
      { run, ...about },
      `${run.id} is ${run.status}. Follow it with \`svc run watch ${run.id}\`.`
    )
  }
  const ended = yield* awaitRun(run, waitTimeout, json)
  if (discardIfEmpty && ended.status === "waiting_approval" && !hasDecision(ended)) {
    return yield* print(
      json,
      { run: yield* discarded(ended), ...about },
      `Nothing would change. The plan ${ended.id} is discarded.`
    )
  }
  if (json) yield* print(true, { run: ended, ...about }, "")
  else yield* patiently(showEnd(ended))
  if (ended.status === "waiting_approval" && !json) {
    yield* progress(`Approve it with \`svc approve ${ended.id}\`, then apply it with \`svc apply ${ended.id}\`.`)
  }
  yield* endOf(ended)
})

/** Describes the commits of a plan for people. */
const lookText = ({ commitsAhead = 0, deployedCommit, error, ref, resolvedCommit, status }: CapsuleLook): string => {
  if (resolvedCommit === undefined) {
    return unreadText(error?.message ?? `the look is ${status}`)
  }
  const newest = shortCommit(resolvedCommit)
  if (deployedCommit === undefined) return `${terminalText(ref)} is at ${newest}; nothing is deployed yet.`
  return deployedCommit === resolvedCommit
    ? `${terminalText(ref)} is at ${newest}, which is deployed.`
    : `${terminalText(ref)} is at ${newest}; ${shortCommit(deployedCommit)} is deployed.${aheadText(commitsAhead)}`
}

const aheadText = (commits: number): string =>
  commits === 0 ? "" : ` The ref is ${commits} ${commits === 1 ? "commit" : "commits"} ahead.`

const unreadText = (reason: string) =>
  `The repository could not be read, so the newest snapshot is planned, which may be older than what was pushed: ${terminalText(reason)}`

/**
 * Reads the newest commit of the ref that the Capsule follows, so that the plan includes a recent push. A failure does not
 * prevent the plan.
 */
const lookFirst = Effect.fnUntraced(function* (capsuleId: CapsuleId, json: boolean) {
  const { capsules } = yield* SvcClient
  const { origin } = yield* Remote
  const looked = yield* Effect.result(capsules.look({ params: { capsuleId }, payload: {} }).pipe(inWords(origin)))
  const text = Result.match(looked, {
    onFailure: ({ message }) => unreadText(message),
    onSuccess: ({ look }) => lookText(look)
  })
  if (!json) yield* progress(text)
  return Result.isSuccess(looked) ? { look: looked.success.look } : {}
})

const usageFault = (message: string) => new RemoteFailed({ code: "usage", exitCode: exitCodes.usage, message })

const pollEvery = Schedule.spaced("500 millis")

/**
 * Plans a Capsule at another ref and waits until the plan exists. If the revision ends without a plan, fails with the
 * reasons.
 */
const revisionPlanned = Effect.fn("revisionPlanned")(function* (
  capsuleId: CapsuleId,
  ref: string,
  headers: { readonly "idempotency-key": string },
  {
    json,
    speculative,
    waitTimeout
  }: { readonly json: boolean; readonly speculative: boolean; readonly waitTimeout: Option.Option<number> }
) {
  const { revisionPlans, runs } = yield* SvcClient
  const created = yield* revisionPlans.create({
    params: { capsuleId },
    headers,
    payload: { ref, ...(speculative ? { speculative } : {}) }
  })
  const revisionPlanId = created.revisionPlan.id
  if (!json) yield* progress(`Reading ${terminalText(ref)} ...`)
  const { revisionPlan } = yield* Effect.repeat(patiently(revisionPlans.read({ params: { revisionPlanId } })), {
    until: (answer) => answer.revisionPlan.nextAction !== "reconcile",
    schedule: pollEvery
  }).pipe(waitAtMost(waitTimeout, `The plan of ${terminalText(ref)}`, "svc run list"))
  const { diagnostics, phase, planRunId } = revisionPlan
  if (planRunId !== undefined) return (yield* patiently(runs.read({ params: { runId: planRunId } }))).run
  const reasons = diagnostics.map(({ code, message }) => `  ${terminalText(message)} [${code}]`)
  return yield* new CommandFailed({
    message: [`There is no plan of ${terminalText(ref)}: ${phase}.`, ...reasons].join("\n")
  })
})

export const planCommand = Command.make(
  "plan",
  {
    ...planFlags,
    idempotencyKey: idempotencyKeyFlag,
    destroy: Flag.Boolean("destroy").pipe(
      Flag.withDescription("Plan to destroy everything that the Capsule manages"),
      Flag.withDefault(false)
    ),
    ref: Flag.optional(
      Flag.String("ref").pipe(
        Flag.withDescription("Plan another branch, tag or commit; the Capsule follows it once the plan is applied"),
        Flag.withMetavar("ref")
      )
    ),
    speculative: Flag.Boolean("speculative").pipe(
      Flag.withDescription(
        "With --ref: only show the changes of the ref; the plan needs no review and does not affect the Capsule"
      ),
      Flag.withDefault(false)
    ),
    reconcile: Flag.Boolean("reconcile").pipe(
      Flag.withDescription("Plan the deployed commit again, to revert changes made outside svc"),
      Flag.withDefault(false)
    ),
    refreshOnly: Flag.Boolean("refresh-only").pipe(
      Flag.withDescription("Plan to record changes made outside svc in the state; changes no object"),
      Flag.withDefault(false)
    ),
    sync: Flag.Boolean("sync").pipe(
      Flag.withDescription(
        "Read the repository first, to include recent pushes; --no-sync plans the newest snapshot on the server"
      ),
      Flag.withDefault(true)
    ),
    capsule: capsuleArgument
  },
  Effect.fn("plan")((given) =>
    Effect.gen(function* () {
      const { capsules } = yield* SvcClient
      const { id } = yield* capsuleNamed(given.capsule, given.workspace)
      const headers = yield* keyHeaders(given.idempotencyKey)
      const ofDeployed = [given.destroy, given.reconcile, given.refreshOnly].filter((isGiven) => isGiven).length
      if (Option.isSome(given.ref)) {
        if (ofDeployed > 0) {
          return yield* usageFault(
            "--ref plans a revision: leave --destroy, --reconcile and --refresh-only out, which plan the deployed one."
          )
        }
        return yield* planned(yield* revisionPlanned(id, given.ref.value, headers, given), given)
      }
      if (given.speculative) return yield* usageFault("--speculative shows the changes of a ref: add --ref.")
      if (ofDeployed > 1) {
        return yield* usageFault("--destroy, --reconcile and --refresh-only are different plans: give one of them.")
      }
      const about = given.sync && ofDeployed === 0 ? yield* lookFirst(id, given.json) : {}
      const request = { params: { capsuleId: id }, headers, payload: {} }
      const { run } = yield* given.destroy
        ? capsules.destroyPlan(request)
        : given.reconcile
          ? capsules.reconcilePlan(request)
          : capsules.plan(given.refreshOnly ? { ...request, payload: { refreshOnly: true } } : request)
      yield* planned(run, { ...given, about })
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription(
    "Plan a Capsule at the newest commit of its ref, and show the plan; exit code 3 if changes need a decision"
  ),
  Command.withExamples([
    { command: "svc plan network", description: "Plan, and show the changes" },
    { command: "svc plan network --ref main", description: "Plan another branch, tag or commit" },
    {
      command: "svc plan network --ref main --speculative",
      description: "Show the changes of a branch, without a review"
    },
    { command: "svc plan network --refresh-only", description: "Accept changes made outside svc, after review" },
    {
      command: "svc plan network --detailed-exitcode --discard-if-empty",
      description: "In a pipeline that expects the tool's exit codes"
    },
    { command: "svc plan network --json --wait-timeout 30m", description: "In a script" }
  ])
)

export const destroyCommand = Command.make(
  "destroy",
  { ...changeFlags, idempotencyKey: idempotencyKeyFlag, capsule: capsuleArgument },
  Effect.fn("destroy")((given) =>
    Effect.gen(function* () {
      const { capsules } = yield* SvcClient
      const { id } = yield* capsuleNamed(given.capsule, given.workspace)
      const headers = yield* keyHeaders(given.idempotencyKey)
      const { run } = yield* capsules.destroyPlan({ params: { capsuleId: id }, headers, payload: {} })
      yield* planned(run, given)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Plan to destroy a Capsule; nothing is destroyed until the plan is approved and applied")
)

export const driftCommand = Command.make(
  "drift",
  { ...changeFlags, capsule: capsuleArgument },
  Effect.fn("drift")((given) =>
    Effect.gen(function* () {
      const { capsules } = yield* SvcClient
      const { id } = yield* capsuleNamed(given.capsule, given.workspace)
      const { run } = yield* capsules.driftCheck({ params: { capsuleId: id }, payload: {} })
      yield* planned(run, given)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Compare the real infrastructure with the state; exit code 3 if they differ"),
  Command.withExamples([
    { command: "svc drift network", description: "In a script, the exit code contains the result" }
  ])
)

const isStateVersionId = (text: string) => text.startsWith("sv_")

/**
 * Returns the state to restore: either the state with the given id, or the given generation of a Capsule's state. The
 * default is the previous generation.
 */
const returnOf = Effect.fn("returnOf")(function* (given: {
  readonly to: string
  readonly generation: Option.Option<number>
  readonly workspace: Option.Option<string>
}) {
  if (isStateVersionId(given.to)) return StateVersionId.make(given.to)
  const { currentStateGeneration, id, name } = yield* capsuleNamed(given.to, given.workspace)
  const wanted = Option.getOrElse(given.generation, () => currentStateGeneration - 1)
  const found = (yield* stateVersionsOf(id)).find(({ generation }) => generation === wanted)
  return found === undefined
    ? yield* new RemoteFailed({
        code: "not_found",
        exitCode: exitCodes.notFound,
        message: `${name} keeps no state of generation ${wanted}. List them with \`svc capsule states ${given.to}\`.`
      })
    : found.id
})

export const rollbackCommand = Command.make(
  "rollback",
  {
    ...planFlags,
    reason: Flag.optional(
      Flag.String("reason").pipe(Flag.withDescription("Reason, shown to reviewers"), Flag.withMetavar("text"))
    ),
    generation: Flag.optional(
      intFlag("generation", 1).pipe(
        Flag.withDescription("Generation of the Capsule's state; default: the previous generation")
      )
    ),
    to: Argument.String("capsule").pipe(
      Argument.withDescription("Name or id of the Capsule, or the id of one of its StateVersions")
    )
  },
  Effect.fn("rollback")((given) =>
    Effect.gen(function* () {
      const { runs } = yield* SvcClient
      const payload = Option.match(given.reason, { onNone: () => ({}), onSome: (reason) => ({ reason }) })
      const stateVersionId = yield* returnOf(given)
      const { run } = yield* runs.rollbackPlan({ params: { stateVersionId }, payload })
      yield* planned(run, given)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Plan to roll back a Capsule to the commit and configuration of an earlier state"),
  Command.withExamples([
    { command: 'svc rollback network --reason "the route is missing"', description: "To the previous deployment" },
    { command: "svc rollback network --generation 1", description: "To another stored state" }
  ])
)
