import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { RunStatus, RunType, type Run } from "../../../schema/records/Run.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, jsonLine, print, printLine } from "../Output.ts"
import { agentFacts } from "./AgentText.ts"
import { commentCommand, commentsCommand } from "./CommentCommands.ts"
import { planJson } from "./PlanJson.ts"
import { peopleOf, showEnd } from "./PlanView.ts"
import { releaseCommand } from "./ReleaseCommand.ts"
import { runArgument } from "./RunArgument.ts"
import { patiently } from "./Patience.ts"
import { allPages } from "./Pages.ts"
import { onServer } from "./Remote.ts"
import { waitTimeoutFlag, workspaceFlags } from "./RemoteFlags.ts"
import { awaitRun, endOf, printLog } from "./RunEnd.ts"
import { factsText, rowsText, shortCommit, timeText } from "./Rows.ts"
import { capsuleNamed, capsulesOf, runNamed, workspaceNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"
import { waitCommand } from "./WaitCommand.ts"
import { intFlag } from "../ValueFlags.ts"
import { withdrawCommand } from "./WithdrawCommand.ts"

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
