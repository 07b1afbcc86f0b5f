import { Clock, Effect, Option, Redacted, Schema } from "effect"
import type { HelpDoc } from "effect/cli"
import { createHash } from "node:crypto"
import { SvcClient } from "../../client/SvcClient.ts"
import { StoredContexts } from "../context/StoredContexts.ts"
import { privateFile } from "../login/PrivateFile.ts"
import { allPages } from "../remote/Pages.ts"
import { onServer, Remote } from "../remote/Remote.ts"
import { capsulesOf, connectionsOf, isOver, sourcesOf, workspaceNamed } from "../remote/Selection.ts"
import { CommandTree } from "./CommandTree.ts"

/** A word that the shell suggests, and its description. */
interface Candidate {
  readonly word: string
  readonly description: string
}

/** The server and the Workspace that the words before the cursor select. */
interface Place {
  readonly server: Option.Option<string>
  readonly context: Option.Option<string>
  readonly workspace: Option.Option<string>
}

const Names = Schema.Array(Schema.Struct({ word: Schema.String, description: Schema.String }))
const NameFile = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Struct({ at: Schema.Number, names: Names })))

const lifetime = 30_000
const mostKept = 20
const newestRuns = 20

const words = { exposed: (file: string) => file, unreadable: (file: string) => file }

const listed = {
  capsules: Effect.fnUntraced(function* ({ workspace }: Place) {
    const all = yield* capsulesOf((yield* workspaceNamed(workspace)).id)
    return all
      .filter(({ status }) => !isOver(status))
      .map(({ environment, name, status }) => ({ word: `${name}/${environment}`, description: status }))
  }),
  runs: Effect.fnUntraced(function* ({ workspace }: Place) {
    const client = yield* SvcClient
    const { id: workspaceId } = yield* workspaceNamed(workspace)
    const { runs } = yield* client.workspaces.runs({ params: { workspaceId }, query: { limit: newestRuns } })
    return runs.map(({ id, status, type }) => ({ word: id, description: `${type} ${status}` }))
  }),
  connections: Effect.fnUntraced(function* ({ workspace }: Place) {
    const all = yield* connectionsOf((yield* workspaceNamed(workspace)).id)
    return all.map(({ displayName, provider }) => ({ word: displayName, description: provider }))
  }),
  sources: Effect.fnUntraced(function* ({ workspace }: Place) {
    const all = yield* sourcesOf((yield* workspaceNamed(workspace)).id)
    return all.map(({ name, url }) => ({ word: name, description: url }))
  }),
  workspaces: Effect.fnUntraced(function* () {
    const client = yield* SvcClient
    const all = yield* allPages((query) =>
      Effect.map(client.workspaces.list({ query }), ({ nextCursor, workspaces: items }) => ({ items, nextCursor }))
    )
    return all.map(({ displayName, handle }) => ({ word: handle, description: displayName }))
  })
}

/** Kinds of records whose names are completed. */
type LiveKind = keyof typeof listed

/** Lists the names of this user's contexts. */
const contextNames = Effect.gen(function* () {
  const { contexts } = yield* (yield* StoredContexts).known
  return Object.entries(contexts).map(([word, { server }]): Candidate => ({ word, description: server }))
}).pipe(Effect.provide(StoredContexts.layer))

/** Lists the names of a kind on the selected server, from the short-lived cache if possible. */
const liveNames = (kind: LiveKind, place: Place) =>
  Effect.gen(function* () {
    const { origin, token, workspace } = yield* Remote
    const owner = createHash("sha256").update(Redacted.value(token)).digest("hex").slice(0, 16)
    const chosen = Option.getOrElse(
      Option.orElse(place.workspace, () => workspace),
      () => ""
    )
    const key = [kind, origin, chosen, owner].join(" ")
    const { read, write } = yield* privateFile("completion.json", NameFile, {}, words)
    const now = yield* Clock.currentTimeMillis
    const kept = yield* Effect.orElseSucceed(read, (): typeof NameFile.Type => ({}))
    const known = kept[key]
    if (known !== undefined && now - known.at < lifetime) return known.names
    const names = yield* Effect.asSome(listed[kind](place)).pipe(
      Effect.timeout("1 second"),
      Effect.orElseSucceed(Option.none)
    )
    if (Option.isNone(names)) return known?.names ?? []
    const others = Object.entries(kept)
      .filter(([other]) => other !== key)
      .toSorted(([, one], [, two]) => two.at - one.at)
      .slice(0, mostKept)
    yield* Effect.ignore(write({ ...Object.fromEntries(others), [key]: { at: now, names: names.value } }))
    return names.value
  }).pipe(onServer({ server: place.server, context: place.context, quiet: true }))

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
