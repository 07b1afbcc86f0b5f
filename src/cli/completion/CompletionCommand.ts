import { Clock, Console, Effect, Option, Redacted, Schema } from "effect"
import { Argument, Command, type HelpDoc } from "effect/cli"
import { createHash } from "node:crypto"
import { SvcClient } from "../../client/SvcClient.ts"
import { candidatesCommandName } from "../ClientCommandNames.ts"
import { printLine } from "../Output.ts"
import { StoredContexts } from "../context/StoredContexts.ts"
import { privateFile } from "../login/PrivateFile.ts"
import { allPages } from "../remote/Pages.ts"
import { onServer, Remote } from "../remote/Remote.ts"
import { capsulesOf, connectionsOf, isOver, sourcesOf, workspaceNamed } from "../remote/Selection.ts"
import { terminalText } from "../remote/TerminalText.ts"
import { CommandTree } from "./CommandTree.ts"

// Each script quotes the names, because they come from a server and the shell must never execute them.
const scripts = {
  bash: `# Completion of svc in bash: source <(svc completion bash)
_svc() {
  local word rest
  COMPREPLY=()
  while IFS=$'\\t' read -r word rest; do
    COMPREPLY+=("$(printf %q "$word")")
  done < <("\${COMP_WORDS[0]}" ${candidatesCommandName} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _svc svc`,
  zsh: `#compdef svc
# Completion of svc in zsh: source <(svc completion zsh)
_svc() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" ${candidatesCommandName} -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe -V svc found; else _files; fi
}
if [ "$funcstack[1]" = _svc ]; then _svc "$@"; else compdef _svc svc; fi`,
  fish: `# Completion of svc in fish: svc completion fish | source
function __svc_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l found ($words[1] ${candidatesCommandName} -- $words[2..] "$typed" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path "$typed"
    end
end
complete -c svc -f -a '(__svc_complete)'`
} as const

const shells = ["bash", "zsh", "fish"] as const

export const completionCommand = Command.make(
  "completion",
  { shell: Argument.Literals("shell", shells).pipe(Argument.withDescription("The shell")) },
  ({ shell }) => printLine(scripts[shell])
).pipe(
  Command.withDescription("Print a shell script that completes commands, flags and names"),
  Command.withExamples([
    { command: "source <(svc completion bash)", description: "In ~/.bashrc" },
    { command: "source <(svc completion zsh)", description: "In ~/.zshrc, after compinit" },
    { command: "svc completion fish | source", description: "In ~/.config/fish/config.fish" }
  ])
)

/** Removes the shell's quoting from a word. */
const unquoted = (word: string) => word.replace(/^["']/, "").replaceAll(/\\(.)/g, "$1")

const isPlain = (word: string) => word !== "" && word === terminalText(word) && !/[\t\n]/.test(word)

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

const namesLifetime = 30_000
const mostKeptNames = 20
const newestRuns = 20

const fileMessages = { exposed: (file: string) => file, unreadable: (file: string) => file }

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
    const { read, write } = yield* privateFile("completion.json", NameFile, {}, fileMessages)
    const now = yield* Clock.currentTimeMillis
    const kept = yield* Effect.orElseSucceed(read, (): typeof NameFile.Type => ({}))
    const known = kept[key]
    if (known !== undefined && now - known.at < namesLifetime) return known.names
    const names = yield* Effect.asSome(listed[kind](place)).pipe(
      Effect.timeout("1 second"),
      Effect.orElseSucceed(Option.none)
    )
    if (Option.isNone(names)) return known?.names ?? []
    const others = Object.entries(kept)
      .filter(([other]) => other !== key)
      .toSorted(([, one], [, two]) => two.at - one.at)
      .slice(0, mostKeptNames)
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
const candidates = Effect.fn("completion.candidates")(function* (words: ReadonlyArray<string>) {
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

/** Prints one candidate per line. On an error, prints nothing, because the person is still typing. */
export const candidatesCommand = Command.make(
  candidatesCommandName,
  { words: Argument.String("words").pipe(Argument.variadic()) },
  ({ words }) =>
    candidates([...words.slice(0, -1), unquoted(words.at(-1) ?? "")]).pipe(
      Effect.flatMap((found) =>
        Effect.forEach(
          found.filter(({ word }) => isPlain(word)),
          ({ description, word }) => Console.log(`${word}\t${terminalText(description).replaceAll("\t", " ")}`),
          { discard: true }
        )
      ),
      // Give up quickly: the person is typing and waiting for the result.
      Effect.timeoutOption("3 seconds"),
      Effect.catchCause(() => Effect.void)
    )
).pipe(Command.unlisted)
