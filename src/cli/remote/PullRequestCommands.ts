import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { PullRequestId } from "../../../schema/records/Ids.ts"
import { ForgePullRequestState } from "../../../schema/records/Forge.ts"
import type { PullRequest, PullRequestCapsule } from "../../../schema/records/PullRequest.ts"
import type { ModuleReview, ReviewChanges } from "../../../schema/records/StaticReview.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { exitCodes } from "../ExitCodes.ts"
import { CommandFailed, misuse, print } from "../Output.ts"
import { allPages } from "./Pages.ts"
import { onServer } from "./Remote.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { factsText, rowsText, shortCommit, timeText } from "./Rows.ts"
import { capsulesOf, sourceNamed, sourcesOf, workspaceNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const sourceFlag = Flag.optional(
  Flag.String("source").pipe(Flag.withDescription("Name of the Source, or its id"), Flag.withMetavar("name"))
)

const refused = (message: string) => new CommandFailed({ ...misuse, message })

interface Given {
  readonly workspace: Option.Option<string>
  readonly source: Option.Option<string>
}

/** Lists the pull requests of a Workspace, or of one Source. */
const found = Effect.fnUntraced(function* (given: Given, state: PullRequest["state"] | undefined) {
  const client = yield* SvcClient
  const { id: workspaceId } = yield* workspaceNamed(given.workspace)
  const source = Option.isNone(given.source) ? undefined : yield* sourceNamed(given.source.value, given.workspace)
  const filter = { ...(source === undefined ? {} : { sourceId: source.id }), ...(state === undefined ? {} : { state }) }
  const all = yield* allPages((query) =>
    Effect.map(
      client.pullRequests.list({ params: { workspaceId }, query: { ...query, ...filter } }),
      ({ nextCursor, pullRequests: items }) => ({ items, nextCursor })
    )
  )
  return { workspaceId, all }
})

const titleOf = ({ headBranch, title }: PullRequest) => terminalText(title ?? headBranch ?? "")

/** Returns the number of affected Capsules for each verdict. */
const countsText = ({ counts = {} }: PullRequest): string =>
  Object.entries(counts)
    .map(([verdict, count]) => `${count} ${verdict.replaceAll("_", " ")}`)
    .join(", ")

const listCommand = Command.make(
  "list",
  {
    ...workspaceFlags,
    source: sourceFlag,
    state: Flag.Literals("state", [...ForgePullRequestState.literals, "all"]).pipe(
      Flag.withDescription("Which pull requests; default: open"),
      Flag.withDefault("open")
    )
  },
  Effect.fn("pr list")((given) =>
    Effect.gen(function* () {
      const { all, workspaceId } = yield* found(given, given.state === "all" ? undefined : given.state)
      const names = new Map((yield* sourcesOf(workspaceId)).map(({ id, name }) => [id, name]))
      yield* print(
        given.json,
        { pullRequests: all },
        all.length === 0
          ? "There are no such pull requests. svc finds them while a Source looks by schedule and webhook."
          : rowsText(
              ["number", "state", "source", "head", "fork", "capsules", "title"],
              all.map((one) => [
                `#${one.number}`,
                one.state,
                terminalText(names.get(one.sourceId) ?? one.sourceId),
                shortCommit(one.headCommit) ?? "",
                one.fork,
                countsText(one),
                titleOf(one)
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the pull requests of a Workspace's Sources"),
  Command.withAlias("ls"),
  Command.withExamples([{ command: "svc pr list --state all", description: "Closed and merged ones too" }])
)

const numberArgument = Argument.String("number").pipe(
  Argument.withDescription("Number of the pull request, such as 7, or its id")
)

const isId = Schema.is(PullRequestId)

/** Finds a pull request by its id, or by its number in the Workspace. */
const pullRequestNamed = Effect.fnUntraced(function* (named: string, given: Given) {
  const { pullRequests } = yield* SvcClient
  const read = (pullRequestId: string) => pullRequests.read({ params: { pullRequestId } })
  if (isId(named)) return (yield* read(named)).pullRequest
  const number = Number(named.replace(/^#/, ""))
  if (!Number.isInteger(number))
    return yield* refused(`${terminalText(named)} is no number and no id of a pull request.`)
  const matching = (yield* found(given, undefined)).all.filter((one) => one.number === number)
  const [only, ...others] = matching
  if (only === undefined) {
    return yield* new CommandFailed({
      code: "not_found",
      exitCode: exitCodes.notFound,
      message: `There is no pull request #${number}. \`svc pr list\` lists them.`
    })
  }
  if (others.length > 0)
    return yield* refused(`Several Sources have a pull request #${number}: choose one with --source.`)
  return (yield* read(only.id)).pullRequest
})

const capsuleLine = (capsule: PullRequestCapsule, name: string) => {
  const { apply, because, plan, refusal, run, touched, verdict } = capsule
  const runs = [
    ["plan", run],
    ["plan after the merge", plan],
    ["apply", apply]
  ] as const
  const linked = runs.flatMap(([what, one]) => (one === undefined ? [] : [`${what} ${one.id} ${one.status}`]))
  const outcome = linked.length === 0 ? refusal?.message : linked.join(", ")
  const judged = verdict === undefined ? "" : `${verdict.replaceAll("_", " ")}; `
  const touch = `${judged}${touched ? (because ?? "touched") : "not touched"}`
  return `  ${terminalText(name)}: ${[touch, outcome].flatMap((text) => (text === undefined ? [] : [terminalText(text)])).join("; ")}`
}

const changeLines = (what: string, { added, more, removed }: ReviewChanges) => [
  ...added.map(({ line, name, path }) => `    + ${what} ${terminalText(name)} (${terminalText(path)}:${line})`),
  ...removed.map(({ name }) => `    - ${what} ${terminalText(name)}`),
  ...(more === 0 ? [] : [`    and ${more} more`])
]

const moduleLines = (module: ModuleReview) => [
  `  module ${terminalText(module.path)}: ${module.status}`,
  ...module.files.added.map((path) => `    + ${terminalText(path)}`),
  ...module.files.changed.map((path) => `    ~ ${terminalText(path)}`),
  ...module.files.removed.map((path) => `    - ${terminalText(path)}`),
  ...module.runsCode.present.map(
    ({ line, name, path }) => `    ! runs code: ${terminalText(name)} (${terminalText(path)}:${line})`
  ),
  ...(module.runsCode.more === 0 ? [] : [`    ! runs code: and ${module.runsCode.more} more`]),
  ...changeLines("resource", module.resources),
  ...changeLines("data source", module.dataSources),
  ...changeLines("call", module.moduleCalls),
  ...changeLines("provider", module.providers),
  ...changeLines("input", module.inputs),
  ...changeLines("output", module.outputs),
  ...(module.lockFile === "absent" || module.lockFile === "unchanged" ? [] : [`    lock file ${module.lockFile}`]),
  ...module.unread.map((path) => `    ? not read: ${terminalText(path)}`),
  ...module.findings.map(({ message }) => `    x ${terminalText(message)}`)
]

const showText = (one: PullRequest, names: ReadonlyMap<string, string>) =>
  [
    factsText([
      ["number", `#${one.number}`],
      ["title", one.title === undefined ? undefined : terminalText(one.title)],
      ["state", one.state],
      ["author", one.author === undefined ? undefined : terminalText(one.author)],
      ["head", `${one.headCommit}${one.headBranch === undefined ? "" : ` (${terminalText(one.headBranch)})`}`],
      ["base", one.baseBranch === undefined ? undefined : terminalText(one.baseBranch)],
      ["fork", one.fork],
      ["allowed", one.planned === undefined ? undefined : `${one.planned.commit} by ${one.planned.by}`],
      ["error", one.error === undefined ? undefined : terminalText(one.error.message)],
      ["commented", timeText(one.report?.writtenAt)],
      ["forge", one.report?.error === undefined ? undefined : terminalText(one.report.error.message)],
      ["url", one.url === undefined ? undefined : terminalText(one.url)]
    ]),
    ...(one.capsules === undefined || one.capsules.length === 0
      ? []
      : ["", "Capsules", ...one.capsules.map((row) => capsuleLine(row, names.get(row.capsuleId) ?? row.capsuleId))]),
    ...(one.review === undefined ? [] : ["", "Static review", ...one.review.modules.flatMap(moduleLines)])
  ].join("\n")

const shown = Effect.fnUntraced(function* (one: PullRequest) {
  const capsules = yield* capsulesOf(one.workspaceId)
  return showText(one, new Map(capsules.map(({ environment, id, name }) => [id, `${name}/${environment}`])))
})

const showCommand = Command.make(
  "show",
  { ...workspaceFlags, source: sourceFlag, number: numberArgument },
  Effect.fn("pr show")((given) =>
    Effect.gen(function* () {
      const one = yield* pullRequestNamed(given.number, given)
      yield* print(given.json, { pullRequest: one }, yield* shown(one))
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Show a pull request, its static review and the Capsules that it touches"))

const planCommand = Command.make(
  "plan",
  {
    ...workspaceFlags,
    source: sourceFlag,
    commit: Flag.String("commit").pipe(
      Flag.withDescription("The head that you have read: the commit, or its first seven characters or more"),
      Flag.withMetavar("commit")
    ),
    number: numberArgument
  },
  Effect.fn("pr plan")((given) =>
    Effect.gen(function* () {
      const { pullRequests } = yield* SvcClient
      const one = yield* pullRequestNamed(given.number, given)
      if (!/^[0-9a-f]{7,40}$/.test(given.commit)) {
        return yield* refused(`${terminalText(given.commit)} is no commit, nor its first seven characters or more.`)
      }
      // The server would answer the same for a whole commit.
      if (!one.headCommit.startsWith(given.commit)) {
        return yield* new CommandFailed({
          code: "guard_conflict",
          exitCode: exitCodes.conflict,
          message: `The head of #${one.number} is ${one.headCommit}, not ${terminalText(given.commit)}.`
        })
      }
      const { pullRequest } = yield* pullRequests.plan({
        params: { pullRequestId: one.id },
        payload: { commit: one.headCommit }
      })
      yield* print(
        given.json,
        { pullRequest },
        `The Capsules that ${shortCommit(pullRequest.headCommit)} touches are being planned. \`svc pr show ${pullRequest.number}\` shows their Runs.`
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Plan exactly this commit of a pull request, whatever the Source's rule"))

export const pullRequestCommand = Command.make("pr").pipe(
  Command.withDescription("Pull requests of Sources, their reviews and their plans"),
  Command.withSubcommands([listCommand, showCommand, planCommand])
)
