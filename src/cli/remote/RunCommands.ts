import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag, Prompt, TerminalCapabilities } from "effect/cli"
import { RunStatus, RunType, type Run } from "../../../schema/records/Run.ts"
import type { RunComment } from "../../../schema/records/RunComment.ts"
import { isFinalStatus } from "../../../schema/records/RunTransitions.ts"
import { releaseRisk } from "../../ReleaseRisk.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { exitCodes } from "../ExitCodes.ts"
import { CommandFailed, jsonLine, misuse, print, printLine, refused } from "../Output.ts"
import { releasedText } from "../ReleasedText.ts"
import { agentFacts } from "./AgentText.ts"
import { planJson } from "./PlanJson.ts"
import { addressOf, capsuleOfRun, peopleOf, showEnd } from "./PlanView.ts"
import { patiently } from "./Patience.ts"
import { allPages } from "./Pages.ts"
import { onServer } from "./Remote.ts"
import { idempotencyKeyFlag, keyHeaders, waitTimeoutFlag, workspaceFlags } from "./RemoteFlags.ts"
import { awaitRun, endOf, isSettled, printLog } from "./RunEnd.ts"
import { factsText, rowsText, shortCommit, timeText } from "./Rows.ts"
import { capsuleNamed, capsulesOf, runNamed, workspaceNamed } from "./Selection.ts"
import { isTypedName, terminalText } from "./TerminalText.ts"
import { anyNumber, intFlag } from "../ValueFlags.ts"
import { memberNamed, memberNames } from "../member/MemberCommands.ts"
import { progress } from "./Progress.ts"
import { RemoteFailed } from "./RemoteFailed.ts"

const defaultRuns = 20
const any = () => true
const isReviewed = ({ planRunId, type }: Pick<Run, "planRunId" | "type">) =>
  planRunId === undefined && (type === "plan" || type === "destroy_plan")

const listCommand = Command.make(
  "list",
  {
    ...workspaceFlags,
    capsule: Flag.optional(
      Flag.String("capsule").pipe(Flag.withDescription("Only Runs of this Capsule"), Flag.withMetavar("name"))
    ),
    type: Flag.optional(Flag.Literals("type", RunType.literals).pipe(Flag.withDescription("Only Runs of this type"))),
    status: Flag.optional(
      Flag.Literals("status", RunStatus.literals).pipe(Flag.withDescription("Only Runs with this status"))
    ),
    search: Flag.optional(
      Flag.String("search").pipe(
        Flag.withDescription("Only Runs that match every word: names, commits, people, beginnings of ids"),
        Flag.withMetavar("words")
      )
    ),
    limit: intFlag("limit", 1).pipe(
      Flag.withDescription(`Number of Runs, newest first; default: ${defaultRuns}`),
      Flag.withDefault(defaultRuns)
    )
  },
  Effect.fn("run list")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const workspace = yield* workspaceNamed(given.workspace)
      const capsule = Option.isSome(given.capsule)
        ? yield* capsuleNamed(given.capsule.value, Option.some(workspace.id))
        : undefined
      const filters = {
        ...(capsule === undefined ? {} : { capsuleId: capsule.id }),
        ...(Option.isSome(given.type) ? { type: [given.type.value] } : {}),
        ...(Option.isSome(given.search) ? { search: given.search.value } : {}),
        ...(Option.isSome(given.status) ? { status: [given.status.value] } : {})
      }
      const runs = yield* allPages(
        (query) =>
          Effect.map(
            client.workspaces.runs({ params: { workspaceId: workspace.id }, query: { ...query, ...filters } }),
            ({ nextCursor, runs: items }) => ({ items, nextCursor })
          ),
        given.limit
      )
      if (given.json) return yield* print(true, { runs }, "")
      const names = new Map(
        (yield* capsulesOf(workspace.id)).map(({ environment, id, name }) => [id, `${name}/${environment}`])
      )
      yield* print(
        false,
        runs,
        runs.length === 0
          ? "There is no such Run."
          : rowsText(
              ["id", "type", "status", "capsule", "commit", "created"],
              runs.map((run) => [
                run.id,
                run.speculative === true ? `${run.type}, speculative` : run.type,
                run.drifted === true ? `${run.status}, drift found` : run.status,
                terminalText(run.capsuleId === undefined ? "" : (names.get(run.capsuleId) ?? run.capsuleId)),
                shortCommit(run.resolvedCommit) ?? "",
                timeText(run.createdAt) ?? ""
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the newest Runs"),
  Command.withAlias("ls"),
  Command.withExamples([
    { command: "svc run list --capsule network --limit 5", description: "The newest five of one Capsule" },
    { command: "svc run list --status waiting_approval --json", description: "Runs that wait for a person" }
  ])
)

const factsOf = (run: Run, nameOf: (subject: string) => string) =>
  factsText([
    ["id", run.id],
    ["created", timeText(run.createdAt)],
    ["by", run.createdBy === undefined ? undefined : nameOf(run.createdBy)],
    ["plan", run.planRunId],
    ...agentFacts(run)
  ])

const runArgument = Argument.String("run").pipe(
  Argument.withDescription("Id of the Run, or the name of a Capsule for its newest Run")
)

const getCommand = Command.make(
  "get",
  {
    ...workspaceFlags,
    planJson: Flag.Boolean("plan-json").pipe(
      Flag.withDescription(
        "Print a plan in the tool's format, for programs: the data that reviewers see, without variables, state and secrets"
      ),
      Flag.withDefault(false)
    ),
    run: runArgument
  },
  Effect.fn("run get")((given) =>
    Effect.gen(function* () {
      const run = yield* runNamed(
        given.run,
        given.workspace,
        given.planJson ? isReviewed : any,
        given.planJson ? "plan" : "Run"
      )
      if (given.planJson) {
        if (run.planSummary !== undefined && isReviewed(run)) return yield* printLine(jsonLine(planJson(run)))
        return yield* new CommandFailed({
          message: `${run.id} is a ${run.type.replaceAll("_", " ")} that is ${run.status}: it has no plan to print.`
        })
      }
      if (given.json) return yield* print(true, { run }, "")
      yield* print(false, run, factsOf(run, yield* peopleOf(run)))
      yield* showEnd(run)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Show a Run, and the changes of a plan"),
  Command.withExamples([
    { command: "svc run get network --plan-json > plan.json", description: "For a program that reads the tool's plans" }
  ])
)

const watchCommand = Command.make(
  "watch",
  { ...workspaceFlags, waitTimeout: waitTimeoutFlag, run: runArgument },
  Effect.fn("run watch")((given) =>
    Effect.gen(function* () {
      const run = yield* runNamed(given.run, given.workspace, any, "Run")
      const ended = yield* awaitRun(run, given.waitTimeout, given.json)
      if (given.json) yield* print(true, { run: ended }, "")
      else yield* patiently(showEnd(ended))
      yield* endOf(ended)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription(
    "Follow a Run until it finishes or needs approval; Ctrl-C stops following, and the Run continues"
  )
)

const cancelCommand = Command.make(
  "cancel",
  {
    ...workspaceFlags,
    reason: Flag.optional(Flag.String("reason").pipe(Flag.withDescription("Reason, shown in the history"))),
    run: runArgument
  },
  Effect.fn("run cancel")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { id } = yield* runNamed(given.run, given.workspace, any, "Run")
      const payload = Option.match(given.reason, { onNone: () => ({}), onSome: (reason) => ({ reason }) })
      const { run } = yield* client.runs.cancel({ params: { runId: id }, payload })
      yield* print(given.json, { run }, `The Run ${id} is ${run.status}.`)
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Cancel a Run, or withdraw an approval that has not been applied"))

const isRunning = ({ status }: Run) => status === "running"

/**
 * Returns the claim's fence, as the person saw it. It is read from the command line or, if absent there, from the Run, which
 * this function shows to the person for confirmation.
 */
const seenFence = Effect.fn("seenFence")(function* (
  run: Run,
  {
    fence,
    json,
    toolIsDead
  }: { readonly fence: Option.Option<number>; readonly json: boolean; readonly toolIsDead: boolean }
) {
  if (Option.isSome(fence)) {
    return toolIsDead
      ? fence.value
      : yield* new CommandFailed({ ...misuse, message: `${releaseRisk} Repeat the command with --tool-is-dead.` })
  }
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (json || !canPrompt) {
    return yield* new RemoteFailed({
      code: "usage",
      exitCode: exitCodes.usage,
      message: `Without a terminal nobody can be asked. Look at the Run with \`svc run get ${run.id}\`, then name what you saw with --fence, and --tool-is-dead.`
    })
  }
  if (run.agent === undefined)
    return yield* new CommandFailed({ message: `No agent holds ${run.id}: it is ${run.status}.` })
  const name = (yield* capsuleOfRun(run))?.name ?? run.id
  yield* Console.log(`${factsText([["id", run.id], ...agentFacts(run)])}\n\n${releaseRisk}\n`)
  const typed = yield* Prompt.run(
    Prompt.String({ message: `The tool is dead? Type ${terminalText(name)} to release it` })
  )
  return isTypedName(typed, name)
    ? run.agent.fence
    : yield* new CommandFailed({ message: "The Capsule was not released. It waits as before." })
})

const releaseCommand = Command.make(
  "release",
  {
    ...workspaceFlags,
    fence: Flag.optional(
      intFlag("fence", 0).pipe(
        Flag.withDescription("Fence of the agent's claim as shown; required without a terminal"),
        Flag.withMetavar("number")
      )
    ),
    toolIsDead: Flag.Boolean("tool-is-dead").pipe(
      Flag.withDescription("Confirm that the Run's tool is no longer running"),
      Flag.withDefault(false)
    ),
    reason: Flag.optional(Flag.String("reason").pipe(Flag.withDescription("Reason, shown in the history"))),
    run: runArgument
  },
  Effect.fn("run release")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { id } = yield* runNamed(given.run, given.workspace, isRunning, "Run under way")
      // Read the Run itself, because lists omit the agent that holds the Run.
      const shown = yield* client.runs.read({ params: { runId: id } })
      const fence = yield* seenFence(shown.run, given)
      const reason = Option.match(given.reason, { onNone: () => ({}), onSome: (text) => ({ reason: text }) })
      const { run } = yield* client.agentPools.release({
        params: { runId: id },
        payload: { fence, toolIsDead: true, ...reason }
      })
      yield* print(given.json, { run }, releasedText({ runId: id, status: run.status }))
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Release a Capsule from a lost agent before the agent's lease expires"))

/** Waits until enough people have approved a plan. Fails if the plan ends without being approved. */
const approvedRun = Effect.fn("approvedRun")(function* (
  run: Run,
  given: { readonly json: boolean; readonly waitTimeout: Parameters<typeof awaitRun>[1] }
) {
  const { approvals } = yield* SvcClient
  const standing = patiently(Effect.map(approvals.ofRun({ params: { runId: run.id } }), (answer) => answer.approvals))
  const isDecided = ({ status }: Run) => isFinalStatus(status)
  if (!isDecided(run) && !given.json) {
    const planned = yield* awaitRun(run, given.waitTimeout, given.json)
    if (!isDecided(planned)) {
      yield* progress(`${terminalText((yield* standing).message)} ${yield* patiently(addressOf(planned))}`)
    }
  }
  const ended = isDecided(run) ? run : yield* awaitRun(run, given.waitTimeout, given.json, isDecided)
  const approved = yield* standing
  if (given.json) yield* print(true, { run: ended, approvals: approved }, "")
  else yield* patiently(showEnd(ended))
  const isApproved = ended.status === "succeeded" && ended.approvedAt !== undefined && approved.state === "approved"
  if (!isApproved) return yield* refused(`The plan is ${ended.status} and not approved.`)
  if (!given.json) yield* progress(`Approved. Apply it with \`svc apply ${ended.id}\`.`)
})

const waitCommand = Command.make(
  "wait",
  {
    ...workspaceFlags,
    waitTimeout: waitTimeoutFlag,
    approved: Flag.Boolean("approved").pipe(
      Flag.withDescription(
        "Wait until enough people have approved the plan; exits with 1 if the plan ends in any other way"
      ),
      Flag.withDefault(false)
    ),
    run: runArgument
  },
  Effect.fn("run wait")((given) =>
    Effect.gen(function* () {
      const run = yield* runNamed(given.run, given.workspace, () => true, "Run")
      if (given.approved) return yield* approvedRun(run, given)
      const ended = isSettled(run) ? run : yield* awaitRun(run, given.waitTimeout, given.json)
      if (given.json) yield* print(true, { run: ended }, "")
      else yield* patiently(showEnd(ended))
      yield* endOf(ended)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Wait until a Run finishes or needs approval, or until its plan is approved"),
  Command.withExamples([
    {
      command: "svc run wait network --approved --wait-timeout 2h",
      description: "In a pipeline, before `svc apply`, while another person decides"
    }
  ])
)

const withdrawalRefused = (message: string) =>
  new CommandFailed({ code: "failed_precondition", exitCode: exitCodes.conflict, message })

const withdrawCommand = Command.make(
  "withdraw",
  {
    ...workspaceFlags,
    approval: Flag.optional(
      Flag.String("approval").pipe(
        Flag.withDescription("Id of the approval; required if the change has several"),
        Flag.withMetavar("id")
      )
    ),
    run: Argument.String("run").pipe(Argument.withDescription("Id of the speculative plan's Run"))
  },
  Effect.fn("run withdraw")((given) =>
    Effect.gen(function* () {
      const { changeApprovals } = yield* SvcClient
      const params = { runId: given.run }
      const all = (yield* changeApprovals.list({ params })).changeApprovals
      const live = all.filter(({ withdrawnAt }) => withdrawnAt === undefined)
      const named = Option.getOrUndefined(given.approval)
      const [first, ...others] = named === undefined ? live : all.filter(({ id }) => id === named)
      if (first === undefined) {
        return yield* withdrawalRefused(
          named === undefined
            ? `Nobody approves the change in ${terminalText(given.run)}, so there is nothing to withdraw.`
            : `The change in ${terminalText(given.run)} has no approval ${terminalText(named)}.`
        )
      }
      if (others.length > 0) {
        const choices = live.map(({ id, subject }) => `${id} by ${subject}`).join(", ")
        return yield* withdrawalRefused(
          `Several people approve this change. Choose an approval with --approval: ${choices}.`
        )
      }
      const { changeApproval } = yield* changeApprovals.withdraw({
        params: { ...params, changeApprovalId: first.id }
      })
      yield* print(
        given.json,
        { changeApproval },
        "The approval is withdrawn. It no longer counts for a plan after the merge."
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Withdraw an approval of the change in a speculative plan"))

const commentCommand = Command.make(
  "comment",
  {
    ...workspaceFlags,
    idempotencyKey: idempotencyKeyFlag,
    mention: Flag.String("mention").pipe(
      Flag.withDescription("Address or subject of a member to notify by mail; may be repeated"),
      Flag.withMetavar("member"),
      anyNumber
    ),
    run: runArgument,
    text: Argument.String("text").pipe(Argument.withDescription("The comment; svc masks known secrets in it"))
  },
  Effect.fn("run comment")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { id, workspaceId } = yield* runNamed(given.run, given.workspace, any, "Run")
      const mentions = yield* Effect.forEach(given.mention, (named) => memberNamed(workspaceId, named))
      const { comment } = yield* client.comments.write({
        params: { runId: id },
        headers: yield* keyHeaders(given.idempotencyKey),
        payload: { text: given.text, mentions: mentions.map(({ subject }) => subject) }
      })
      yield* print(given.json, { comment }, `Commented on ${id}.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Comment on a Run, for everybody who can read it"),
  Command.withExamples([
    {
      command: 'svc run comment network "Please wait for the release." --mention bob@example.com',
      description: "On the newest Run of a Capsule"
    }
  ])
)

const commentText = ({ author, createdAt, id, text }: RunComment, names: ReadonlyMap<string, string>) => {
  const lines = text === undefined ? ["(removed)"] : text.split(/\r?\n/).map(terminalText)
  const head = `${timeText(createdAt) ?? ""}  ${terminalText(names.get(author) ?? author)}  ${id}`
  return [head, ...lines.map((line) => `  ${line}`)].join("\n")
}

const commentsCommand = Command.make(
  "comments",
  { ...workspaceFlags, run: runArgument },
  Effect.fn("run comments")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { id, workspaceId } = yield* runNamed(given.run, given.workspace, any, "Run")
      const comments = yield* allPages((query) =>
        Effect.map(client.comments.list({ params: { runId: id }, query }), ({ comments: items, nextCursor }) => ({
          items,
          nextCursor
        }))
      )
      if (given.json) return yield* print(true, { comments }, "")
      // Continue without names, because a token that is limited to Projects cannot list the members.
      const names = yield* Effect.orElseSucceed(memberNames(workspaceId), () => new Map<string, string>())
      const text = comments.map((comment) => commentText(comment, names)).join("\n\n")
      yield* print(false, comments, comments.length === 0 ? "Nobody has commented on this Run." : text)
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the comments on a Run, oldest first"))

export const runCommand = Command.make("run").pipe(
  Command.withDescription("Runs: plans, applies, checks"),
  Command.withSubcommands([
    listCommand,
    getCommand,
    watchCommand,
    waitCommand,
    cancelCommand,
    withdrawCommand,
    commentCommand,
    commentsCommand,
    releaseCommand
  ])
)

export const logsCommand = Command.make(
  "logs",
  {
    ...workspaceFlags,
    follow: Flag.Boolean("follow").pipe(
      Flag.withAlias("f"),
      Flag.withDescription("Continue with new lines until the Run stops executing"),
      Flag.withDefault(false)
    ),
    after: intFlag("after", 0).pipe(Flag.withDescription("Only lines after this number"), Flag.withDefault(0)),
    run: runArgument
  },
  Effect.fn("logs")((given) =>
    Effect.gen(function* () {
      const run = yield* runNamed(given.run, given.workspace, any, "Run")
      yield* printLog(run, { after: given.after, follow: given.follow, json: given.json })
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Print the log of a Run"),
  Command.withExamples([
    { command: "svc logs network --follow", description: "The newest Run of a Capsule, as it happens" }
  ])
)
