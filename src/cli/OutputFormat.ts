import { Context, Option } from "effect"
import { Flag } from "effect/cli"
import { yamlText } from "./Yaml.ts"
import { visibleJson } from "../../schema/records/VisibleText.ts"

const formats = ["json", "yaml", "name"] as const
type Format = (typeof formats)[number]

/** Output format for machine-readable results. */
export const OutputFormat = Context.Reference<Format>("svc/src/cli/OutputFormat", { defaultValue: () => "json" })

export const formatFlag = Flag.optional(
  Flag.Literals("format", formats).pipe(
    Flag.withAlias("o"),
    Flag.withDescription("Print the result for programs: json is like --json, name prints one id or name per line"),
    Flag.withMetavar(formats.join("|"))
  )
)

const isFormat = (text: string | undefined): text is Format => formats.some((format) => format === text)

/**
 * Finds the format flag on a command line. Returns the format and the command line. Every format except text implies
 * `--json`.
 */
export const withFormat = (args: ReadonlyArray<string>) => {
  const end = args.indexOf("--")
  const flags = end === -1 ? args : args.slice(0, end)
  const found = flags.flatMap((arg, at) => {
    const [, joined] = /^(?:-o|--format)=(.*)$/.exec(arg) ?? []
    const given = joined ?? (arg === "-o" || arg === "--format" ? flags[at + 1] : undefined)
    return isFormat(given) ? [given] : []
  })
  const format = found.at(-1)
  if (format === undefined || flags.includes("--json")) return { args, format: Option.fromUndefinedOr(format) }
  return { args: [...flags, "--json", ...args.slice(flags.length)], format: Option.some(format) }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the name or id by which other commands refer to a record. */
const nameOf = (record: unknown): string | undefined => {
  if (!isRecord(record)) return typeof record === "string" ? record : undefined
  return [record["handle"], record["id"], record["subject"], record["name"]].find((name) => typeof name === "string")
}

const namesIn = (result: unknown): ReadonlyArray<string> => {
  const own = isRecord(result) ? nameOf(result) : undefined
  if (own !== undefined) return [own]
  const parts = isRecord(result) ? Object.values(result) : [result]
  const [records] = parts.filter((part) => typeof part === "object" && part !== null)
  if (Array.isArray(records)) return records.flatMap((record) => nameOf(record) ?? [])
  const name = nameOf(records) ?? parts.find((part) => typeof part === "string")
  return name === undefined ? [] : [name]
}

/** Formats the result of a command for programs. */
export const formatted = (format: Format, result: unknown): string => {
  if (format === "yaml") return yamlText(result)
  return format === "name" ? namesIn(result).join("\n") : visibleJson(JSON.stringify(result))
}
