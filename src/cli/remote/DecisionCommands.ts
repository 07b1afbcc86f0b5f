import { Effect, Option } from "effect"
import { Argument, Command, Flag, Prompt, TerminalCapabilities } from "effect/cli"
import type { RunApprovals } from "../../../schema/records/Approval.ts"
import type { ListedRun, Run } from "../../../schema/records/Run.ts"
import { isPlan } from "../../../schema/records/RunTransitions.ts"
import { UncertainCode } from "../../../schema/records/UncertainGround.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, print } from "../Output.ts"
import { runFlags, planned } from "./PlanCommands.ts"
import { addressOf, capsuleOfRun, showPlan } from "./PlanView.ts"
import { onServer } from "./Remote.ts"
import { isTypedName, terminalText } from "./TerminalText.ts"
import { type ExitCode, exitCodes } from "../ExitCodes.ts"
import { RemoteFailed } from "./RemoteFailed.ts"
import { idempotencyKeyFlag, keyHeaders, workspaceFlags } from "./RemoteFlags.ts"
import { runNamed } from "./Selection.ts"
import { anyNumber } from "../ValueFlags.ts"

const planArgument = Argument.String("plan").pipe(
  Argument.withDescription("Id of the plan's Run, or the name of a Capsule for its newest plan")
)

const waits = ({ status }: Run) => status === "waiting_approval"
/** Returns true for a plan, as opposed to its apply, which is a separate Run. */
const isReviewed = ({ planRunId, type }: ListedRun) => isPlan(type) && planRunId === undefined

const unapproved = new CommandFailed({ message: "The plan was not approved. It waits as before." })

/** The uncertainties that the person at the terminal acknowledges by approving the plan. */
type Uncertain = NonNullable<RunApprovals["uncertain"]>

/**
 * Asks the person at the terminal to confirm. For removals, restores and uncertain plans, the person has to type the Capsule's
 * name.
 */
const asked = Effect.fn("asked")(function* (run: Run, uncertain: Uncertain) {
  const { destroy = 0, replace = 0 } = run.planSummary ?? {}
  const name = (yield* capsuleOfRun(run))?.name ?? run.id
  const removed = destroy + replace
  if (removed === 0 && run.type !== "destroy_plan" && uncertain.length === 0) {
    return yield* Prompt.run(Prompt.Confirm({ message: "Approve this plan?", initial: false }))
  }
  const reasons = uncertain.map(({ code, message }) => `${code}: ${terminalText(message)}\n`).join("")
  const unknown = uncertain.length === 0 ? "" : `Objects may exist that are missing from this plan.\n${reasons}`
  const removals = removed === 0 && run.type !== "destroy_plan" ? "" : `${removed} will be destroyed or replaced. `
  const typed = yield* Prompt.run(
    Prompt.String({ message: `${unknown}${removals}Type ${terminalText(name)} to approve` })
  )
  return isTypedName(typed, name)
})

const digestUnnamed = (run: Run) =>
  new RemoteFailed({
    code: "usage",
    exitCode: exitCodes.usage,
    message: `Without a terminal nobody can be asked. Review the plan with \`svc run get ${run.id}\`, then name what you reviewed with --digest.`
  })

interface Named {
  readonly digest: Option.Option<string>
  readonly acknowledge: ReadonlyArray<UncertainCode>
  readonly json: boolean
}

/**
 * Returns the reviewed plan and the acknowledgements. They come from the command line or, if absent there, from the plan
 * that this function shows to the person for confirmation.
 */
const reviewed = Effect.fn("reviewed")(function* (run: Run, { acknowledge, digest, json }: Named) {
  if (Option.isSome(digest)) return { planDigest: digest.value, acknowledged: acknowledge }
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (json || !canPrompt) return yield* digestUnnamed(run)
  if (run.type === "restore") {
    return yield* new CommandFailed({
      message: `What a restore changes is shown in the dashboard: ${yield* addressOf(run)}`
    })
  }
  const { approvals } = yield* SvcClient
  const { uncertain = [] } = (yield* approvals.ofRun({ params: { runId: run.id } })).approvals
  yield* showPlan(run)
  if (!(yield* asked(run, uncertain))) return yield* unapproved
  const codes = new Set([...acknowledge, ...uncertain.map(({ code }) => code)])
  return { planDigest: run.planDigest, acknowledged: [...codes] }
})

/** Approves the change in a speculative plan exactly as the caller saw it. */
const approveChange = Effect.fnUntraced(function* (
  run: Run,
  given: Named & { readonly comment: Option.Option<string> }
) {
  const { changeApprovals } = yield* SvcClient
  const { planDigest } = yield* reviewed(run, given)
  if (planDigest === undefined || run.changeDigest === undefined) {
    return yield* new CommandFailed({
      code: "failed_precondition",
      exitCode: exitCodes.conflict,
      message: `${run.id} has no digest of its change, so there is nothing to approve.`
    })
  }
  const { changeApproval } = yield* changeApprovals.approve({
    params: { runId: run.id },
    headers: {},
    payload: {
      planDigest,
      changeDigest: run.changeDigest,
      ...Option.match(given.comment, { onNone: () => ({}), onSome: (comment) => ({ comment }) })
    }
  })
  yield* print(
    given.json,
    { changeApproval },
    "The change is approved. If the rules carry approvals over, this also approves the plan of the lane that makes the same change."
  )
})

export const approveCommand = Command.make(
  "approve",
  {
    ...workspaceFlags,
    digest: Flag.optional(
      Flag.String("digest").pipe(
        Flag.withDescription("Digest of the reviewed plan; required without a terminal"),
        Flag.withMetavar("sha256")
      )
    ),
    comment: Flag.optional(
      Flag.String("comment").pipe(
        Flag.withDescription("Comment for everybody who reads the Run"),
        Flag.withMetavar("text")
      )
    ),
    acknowledge: Flag.Literals("acknowledge", UncertainCode.literals).pipe(
      Flag.withDescription(
        "Reason why objects may exist that the plan does not include; required without a terminal; may be repeated"
      ),
      Flag.withMetavar("code"),
      anyNumber
    ),
    plan: planArgument
  },
  Effect.fn("approve")((given) =>
    Effect.gen(function* () {
      const { approvals, runs } = yield* SvcClient
      const { id } = yield* runNamed(given.plan, given.workspace, waits, "plan that waits for approval")
      const params = { runId: id }
      // Read the Run itself: lists omit the changes, and the digest covers the plan as shown.
      const { run } = yield* runs.read({ params })
      if (run.speculative === true) return yield* approveChange(run, given)
      if (!waits(run))
        return yield* new CommandFailed({
          code: "failed_precondition",
          exitCode: exitCodes.conflict,
          message: `${id} is ${run.status}, so there is nothing to approve.`
        })
      const { acknowledged, planDigest } = yield* reviewed(run, given)
      const comment = Option.match(given.comment, { onNone: () => ({}), onSome: (text) => ({ comment: text }) })
      const answer = yield* runs.approve({
        params,
        payload: {
          ...(planDigest === undefined ? {} : { planDigest }),
          ...comment,
          ...(acknowledged.length === 0 ? {} : { acknowledged })
        }
      })
      const { approvals: standing } = yield* approvals.ofRun({ params })
      const isEnough = standing.state === "approved"
      yield* print(
        given.json,
        { run: answer.run, approvals: standing },
        isEnough ? `Approved. Apply it with \`svc apply ${id}\`.` : `Your approval counts. ${standing.message}`
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Show a plan and approve it; svc approves only what it has shown"),
  Command.withExamples([
    { command: "svc approve network", description: "Show the plan and prompt" },
    { command: "svc approve network --digest sha256:...", description: "Approve a reviewed plan in a script" }
  ])
)

/** Finds the Run that applied this plan. */
const applyOf = Effect.fnUntraced(function* ({ capsuleId, id, workspaceId }: Run) {
  if (capsuleId === undefined) return undefined
  const { workspaces } = yield* SvcClient
  const { runs } = yield* workspaces.runs({ params: { workspaceId }, query: { limit: 100, capsuleId } })
  return runs.find(({ planRunId }) => planRunId === id)
})

const notApplicable = (message: string, exitCode: ExitCode = exitCodes.conflict) =>
  new CommandFailed({ code: "failed_precondition", exitCode, message })

/**
 * Fails if an apply of the plan cannot begin. The message explains which condition is not met and which command fixes this.
 */
const refuseUnready = Effect.fnUntraced(function* (plan: Run, isRepeatable: boolean) {
  const { approvedAt, error, id, status } = plan
  const name = terminalText((yield* capsuleOfRun(plan))?.name ?? id)
  switch (status) {
    case "queued":
    case "running":
      return yield* notApplicable(
        `The newest plan of ${name}, ${id}, is ${status}. Follow it with \`svc run watch ${id}\`, then approve it.`
      )
    case "waiting_approval": {
      const { approvals } = yield* SvcClient
      const { message } = (yield* approvals.ofRun({ params: { runId: id } })).approvals
      return yield* notApplicable(
        `The plan ${id} of ${name} is not approved. ${message} Review and approve it with \`svc approve ${id}\`.`,
        exitCodes.changes
      )
    }
    case "succeeded": {
      const apply = approvedAt === undefined || isRepeatable ? undefined : yield* applyOf(plan)
      if (apply === undefined) return
      return yield* notApplicable(
        `The plan ${id} of ${name} was applied by ${apply.id}, which is ${apply.status}: \`svc run get ${apply.id}\`. Make a new plan with \`svc plan ${name}\`.`
      )
    }
    default:
      return yield* notApplicable(
        `The plan ${id} of ${name} is ${status}${error === undefined ? "" : ` (${error.code})`}, so it is never applied. See \`svc run get ${id}\`, and make a new plan with \`svc plan ${name}\`.`
      )
  }
})

export const applyCommand = Command.make(
  "apply",
  { ...runFlags, idempotencyKey: idempotencyKeyFlag, plan: planArgument },
  Effect.fn("apply")((given) =>
    Effect.gen(function* () {
      const { runs } = yield* SvcClient
      const plan = yield* runNamed(given.plan, given.workspace, isReviewed, "plan")
      if (!isReviewed(plan)) return yield* notApplicable(`${plan.id} is no plan, but ${plan.type}.`, exitCodes.usage)
      // Skip the check for a repeated request: with the same key, the server returns the Run that the first request started.
      yield* refuseUnready(plan, Option.isSome(given.idempotencyKey))
      const headers = yield* keyHeaders(given.idempotencyKey)
      const { run } = yield* runs.apply({ params: { runId: plan.id }, headers, payload: {} })
      yield* planned(run, given)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Apply an approved plan, and follow it; Ctrl-C stops following, and the Run continues"),
  Command.withExamples([
    { command: "svc apply network", description: "Apply the plan and wait until it ends" },
    { command: "svc apply network --no-wait --json", description: "Start it without waiting" }
  ])
)
