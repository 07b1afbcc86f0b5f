import { Effect, Layer, Option, Record, Ref } from "effect"
import { CliOutput, Command, type HelpDoc } from "effect/cli"
import { exitCodes, exitMeanings } from "../src/cli/ExitCodes.ts"
import { withRequired } from "../src/cli/Presentation.ts"
import { resultShapes } from "../src/cli/ResultShapes.ts"
import { svc } from "../src/cli/Root.ts"
import { platform } from "../src/composition/Platform.ts"

/** Returns the `--help` text of a command as data. */
const helpOf = (path: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const shown = yield* Ref.make(Option.none<HelpDoc.HelpDoc>())
    const presenter = CliOutput.layerPresenter({
      present: (event) => ("helpDoc" in event ? Ref.set(shown, Option.some(withRequired(event.helpDoc))) : Effect.void)
    })
    yield* Effect.exit(
      Command.runWith(svc, { version: "" })([...path, "--help"]).pipe(Effect.provide(Layer.merge(platform, presenter)))
    )
    return yield* Effect.flatMap(Ref.get(shown), Effect.fromOption)
  }).pipe(Effect.orDie)

export interface CommandHelp {
  /** Names of the command and its parents, without the name of the program. */
  readonly path: ReadonlyArray<string>
  readonly group: string | undefined
  readonly help: HelpDoc.HelpDoc
}

/** Returns the help of every command in the order of the groups, with each command before its subcommands. */
export const commandHelps = Effect.gen(function* () {
  const below: (path: ReadonlyArray<string>, group: string | undefined) => Effect.Effect<ReadonlyArray<CommandHelp>> =
    Effect.fnUntraced(function* (path, group) {
      const help = yield* helpOf(path)
      const own = path.length === 0 ? [] : [{ path, group, help }]
      const subcommands = (help.subcommands ?? []).flatMap((one) =>
        one.commands.map(({ name }) => ({ name, group: group ?? one.group }))
      )
      const rest = yield* Effect.forEach(subcommands, (one) => below([...path, one.name], one.group))
      return [...own, ...rest.flat()]
    })
  return yield* below([], undefined)
})

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ")

const table = (head: string, rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> =>
  rows.length === 0
    ? []
    : ["", `| ${head} | |`, "|---|---|", ...rows.map(([name, description]) => `| \`${name}\` | ${cell(description)} |`)]

/** Describes the `--json` output of a command whose output is meant for programs. */
const shapeOf = (path: ReadonlyArray<string>): ReadonlyArray<string> =>
  table("key of `--json`", Object.entries(resultShapes[path.join(" ")] ?? {}))

const text = (description: Option.Option<string>) => Option.getOrElse(description, () => "")

type FlagRow = readonly [name: string, description: string]

const flagRow = ({ aliases, description, name, type }: HelpDoc.FlagDoc): FlagRow => [
  [`--${name}`, ...aliases].join(", ") + (type === "boolean" ? "" : ` ${type}`),
  text(description)
]

/** Minimum number of commands with the same flag for it to be described only once. */
const fewestSharing = 8

/** Returns the flags that many commands share, in the order of their first appearance. */
const sharedFlags = (commands: ReadonlyArray<CommandHelp>): ReadonlyMap<string, FlagRow> => {
  const uses = Map.groupBy(
    commands.flatMap(({ help }) => help.flags.map(flagRow)),
    (row) => row.join("\n")
  )
  return new Map(
    [...uses].flatMap(([key, rows]) => (rows.length < fewestSharing || rows[0] === undefined ? [] : [[key, rows[0]]]))
  )
}

const section = ({ help, path }: CommandHelp, shared: ReadonlyMap<string, FlagRow>): string => {
  const flags = help.flags.map(flagRow)
  const isShared = (row: FlagRow) => shared.has(row.join("\n"))
  const common = flags.filter(isShared).map(([name]) => `\`${name.split(/[, ]/)[0]}\``)
  return [
    `### svc ${path.join(" ")}`,
    "",
    `${help.description}.`,
    "",
    "```text",
    help.usage,
    "```",
    ...table(
      "argument",
      (help.args ?? []).map(({ description, name }) => [name, text(description)])
    ),
    ...table(
      "flag",
      flags.filter((row) => !isShared(row))
    ),
    ...(common.length === 0 ? [] : ["", `[Shared flags](#shared-flags): ${common.join(", ")}.`]),
    ...shapeOf(path),
    ...(help.examples ?? []).flatMap(({ command, description }) => [
      "",
      ...(description === undefined ? [] : [`${description}:`, ""]),
      "```sh",
      command,
      "```"
    ])
  ].join("\n")
}

const exits = Record.toEntries(exitCodes)

const meanings = [
  "| code | meaning |",
  "|---|---|",
  ...exits.map(([name, code]) => `| ${code} | ${exitMeanings[name].meaning} |`)
]

/** Contents of `docs/exit-codes.md`: a single table for all commands. */
export const exitCodeReference = [
  "# Exit codes",
  "",
  "Written by `npm run docs:cli` from the table that every command of `svc` uses, and tested with every command. Scripts may rely on it.",
  "",
  "| code | meaning | for instance |",
  "|---|---|---|",
  ...exits.map(([name, code]) => `| ${code} | ${exitMeanings[name].meaning} | ${exitMeanings[name].examples} |`),
  "",
  'With `--json` a failure is one line on standard error, `{"error":{"code","message"}}`: its `code` is finer than the exit code.',
  ""
].join("\n")

/** Contents of `docs/cli.md`: every command with its flags and examples, as the program defines them. */
export const commandReference = Effect.map(commandHelps, (commands) => {
  const groups = [...new Set(commands.map(({ group }) => group ?? ""))]
  const shared = sharedFlags(commands)
  return [
    "# Command line",
    "",
    "Written by `npm run docs:cli` from the definitions of the commands. [terminal.md](terminal.md) walks through a day's work.",
    "",
    "Every command has `--help` and `--json`. Results are on standard output, progress and errors on standard error; with `--json` a result is one",
    'JSON value a line, and an error is `{"error":{"code","message"}}`. Commands of a client name the keys of that value; records with a capital letter',
    "are those of the API, described at `/openapi.json`; a key with `?` may be absent. The exit codes have [a page](exit-codes.md), too:",
    "",
    ...meanings,
    "",
    "## Shared flags",
    "",
    "Many commands have these flags; each command lists which.",
    ...table("flag", [...shared.values()]),
    ...groups.flatMap((group) => [
      "",
      `## ${group}`,
      ...commands.filter((one) => (one.group ?? "") === group).flatMap((one) => ["", section(one, shared)])
    ]),
    ""
  ].join("\n")
})
