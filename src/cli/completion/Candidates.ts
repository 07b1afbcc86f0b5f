import { Effect, Option } from "effect"
import type { HelpDoc } from "effect/cli"
import { CommandTree } from "./CommandTree.ts"
import { type Candidate, contextNames, type LiveKind, liveNames, type Place } from "./LiveNames.ts"

const flagKinds: Readonly<Record<string, LiveKind | "contexts">> = {
  context: "contexts",
  workspace: "workspaces",
  capsule: "capsules"
}

/** Returns the kinds of records that a command's argument may refer to. */
const argumentKinds = ([group]: ReadonlyArray<string>, name: string): ReadonlyArray<LiveKind | "contexts"> => {
  if (name === "capsule") return ["capsules"]
  if (name === "run" || name === "plan") return ["capsules", "runs"]
  if (name === "source") return ["sources"]
  if (name === "workspace") return ["workspaces"]
  if (name === "connection") return ["connections"]
  return group === "context" && name === "name" ? ["contexts"] : []
}

const choices = (description: string) => description.split("(choices: ")[1]?.split(")")[0]?.split(", ") ?? []

const textOf = (description: Option.Option<string>) => Option.getOrElse(description, () => "")

const isNamed = ({ aliases, name }: HelpDoc.FlagDoc, word: string) => word === `--${name}` || aliases.includes(word)

const named = (kind: LiveKind | "contexts", place: Place) =>
  (kind === "contexts" ? contextNames : liveNames(kind, place)).pipe(
    Effect.catchCause(() => Effect.succeed<ReadonlyArray<Candidate>>([]))
  )

/** Returns the command on the command line, its operands, and the flag whose value is being typed, if any. */
const reached = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const tree = yield* CommandTree
  let path: ReadonlyArray<string> = []
  let help = yield* tree.help(path)
  let operands = 0
  let open: HelpDoc.FlagDoc | undefined
  const values = new Map<string, string>()
  for (const word of words) {
    if (open !== undefined) {
      values.set(open.name, word)
      open = undefined
    } else if (word.startsWith("-")) {
      const [flagged = "", value] = word.split("=", 2)
      const flag = help?.flags.find((one) => isNamed(one, flagged))
      if (flag !== undefined && value !== undefined) values.set(flag.name, value)
      else if (flag !== undefined && flag.type !== "boolean") open = flag
    } else {
      const below = (help?.subcommands ?? []).flatMap(({ commands }) => commands)
      const next = below.find(({ alias, name }) => name === word || alias === word)
      if (next === undefined) operands += 1
      else {
        path = [...path, next.name]
        help = yield* tree.help(path)
      }
    }
  }
  return { path, help, operands, open, values }
})

/** Returns the possible values of the last word on the command line. */
export const candidates = Effect.fn("completion.candidates")(function* (words: ReadonlyArray<string>) {
  const typed = words.at(-1) ?? ""
  const { help, open, operands, path, values } = yield* reached(words.slice(0, -1))
  if (help === undefined) return []
  const value = (name: string) => Option.fromUndefinedOr(values.get(name))
  const place = { server: value("server"), context: value("context"), workspace: value("workspace") }
  const starting = (all: ReadonlyArray<Candidate>) => all.filter(({ word }) => word.startsWith(typed))
  if (open !== undefined) {
    const kind = flagKinds[open.name]
    const fixed = choices(textOf(open.description)).map((word) => ({ word, description: "" }))
    return starting(kind === undefined ? fixed : yield* named(kind, place))
  }
  if (typed.startsWith("-")) {
    return starting(
      help.flags.map(({ description, name }) => ({ word: `--${name}`, description: textOf(description) }))
    )
  }
  const below = (help.subcommands ?? []).flatMap(({ commands }) => commands)
  if (below.length > 0) {
    return starting(below.map(({ description, name }) => ({ word: name, description })))
  }
  const args = help.args ?? []
  const last = args.at(-1)
  const argument = args[operands] ?? (last?.variadic === true ? last : undefined)
  if (argument === undefined) return []
  const found = yield* Effect.forEach(argumentKinds(path, argument.name), (kind) => named(kind, place), {
    concurrency: 2
  })
  return starting(found.flat())
})
