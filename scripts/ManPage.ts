import { Effect, Option, Record } from "effect"
import { exitCodes, exitMeanings } from "../src/cli/ExitCodes.ts"
import { settingDefinitions } from "../src/settings/SettingDefinitions.ts"
import { version } from "../src/Version.ts"
import { type CommandHelp, commandHelps } from "./CommandReference.ts"

interface ManPage {
  /** The file name, such as `svc-plan.1`. */
  readonly name: string
  /** The page as roff. */
  readonly text: string
}

/** Escapes everything that has a meaning in roff: backslashes, hyphens of flags, and lines that look like requests. */
const roff = (text: string) =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("`", "")
    .replaceAll(/^([.'])/gm, "\\&$1")

const heading = (name: string, date: string, summary: string): ReadonlyArray<string> => [
  `.TH ${name.toUpperCase()} 1 ${date} "svc ${version}" "svc"`,
  ".SH NAME",
  `${roff(name)} \\- ${roff(summary)}`
]

const entry = (term: string, description: string): ReadonlyArray<string> => [
  ".TP",
  `.B ${roff(term)}`,
  roff(description)
]

const text = (description: Option.Option<string>) => Option.getOrElse(description, () => "")

const commandSection = (macro: "SH" | "SS", { help, path }: CommandHelp): ReadonlyArray<string> => [
  `.${macro} ${roff(`svc ${path.join(" ")}`)}`,
  `${roff(help.description)}.`,
  ".PP",
  ".nf",
  roff(help.usage),
  ".fi",
  ...(help.args ?? []).flatMap(({ description, name }) => entry(name, text(description))),
  ...help.flags.flatMap(({ aliases, description, name, type }) =>
    entry([`--${name}`, ...aliases].join(", ") + (type === "boolean" ? "" : ` ${type}`), text(description))
  ),
  ...(help.examples ?? []).flatMap((example) => [
    ".PP",
    ...(example.description === undefined ? [] : [`${roff(example.description)}:`]),
    ".PP",
    ".nf",
    roff(example.command),
    ".fi"
  ])
]

const exitStatus: ReadonlyArray<string> = [
  ".SH EXIT STATUS",
  ...Record.toEntries(exitCodes).flatMap(([name, code]) => entry(String(code), exitMeanings[name].meaning))
]

const overview = (commands: ReadonlyArray<CommandHelp>, date: string): ManPage => {
  const first = commands.filter(({ path }) => path.length === 1)
  const groups = [...new Set(first.map(({ group }) => group ?? "commands"))]
  const settings = Object.values(settingDefinitions).toSorted((one, other) => one.env.localeCompare(other.env))
  return {
    name: "svc.1",
    text: [
      ...heading("svc", date, "Git-driven control plane for OpenTofu and Terraform modules"),
      ".SH SYNOPSIS",
      "svc COMMAND [flags]",
      ".SH DESCRIPTION",
      "svc serves a control plane, and is the client of one. Each command has a page:",
      ".BR svc\\-plan (1)",
      "for svc plan.",
      ...groups.flatMap((group) => [
        `.SH ${roff(group.toUpperCase())}`,
        ...first
          .filter((one) => (one.group ?? "commands") === group)
          .flatMap(({ help, path }) => entry(`svc ${path.join(" ")}`, help.description))
      ]),
      ".SH ENVIRONMENT",
      "Settings of svc serve; svc serve \\-\\-help describes each.",
      ".PP",
      ".nf",
      ...settings.map(({ env }) => roff(env)),
      ".fi",
      ...exitStatus,
      ""
    ].join("\n")
  }
}

/**
 * Creates the manual pages of section 1: an overview, and a page for each command with its subcommands. `date` has a format
 * like 2026-11-29.
 */
export const manPages = (date: string) =>
  Effect.map(
    commandHelps,
    (commands): ReadonlyArray<ManPage> => [
      overview(commands, date),
      ...commands
        .filter(({ path }) => path.length === 1)
        .map((command): ManPage => {
          const name = `svc-${command.path.join("-")}`
          const below = commands.filter(({ path }) => path.length > 1 && path[0] === command.path[0])
          return {
            name: `${name}.1`,
            text: [
              ...heading(name, date, command.help.description),
              ...commandSection("SH", command),
              ...(below.length === 0 ? [] : [".SH COMMANDS", ...below.flatMap((one) => commandSection("SS", one))]),
              ...exitStatus,
              ".SH SEE ALSO",
              ".BR svc (1)",
              ""
            ].join("\n")
          }
        })
    ]
  )
