import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { serverOrigin } from "../login/DeviceLogin.ts"
import { exitCodes } from "../ExitCodes.ts"
import { CommandFailed, jsonFlag, misuse, print } from "../Output.ts"
import { formatFlag } from "../OutputFormat.ts"
import { rowsText } from "../remote/Rows.ts"
import { type StoredContext, StoredContexts } from "./StoredContexts.ts"

const nameArgument = Argument.String("name").pipe(Argument.withDescription("Name of the context"))

const unknown = (name: string) =>
  new CommandFailed({
    code: "not_found",
    exitCode: exitCodes.notFound,
    message: `There is no context ${name}. List them with \`svc context list\`.`
  })

const listCommand = Command.make(
  "list",
  { json: jsonFlag, format: formatFlag },
  Effect.fn("context list")(function* ({ json }) {
    const { contexts, current } = yield* (yield* StoredContexts).known
    const all = Object.entries(contexts)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, context]) => ({ name, ...context, current: name === current }))
    yield* print(
      json,
      { contexts: all },
      all.length === 0
        ? "There is no context. Set one with `svc context set NAME --server ORIGIN`."
        : rowsText(
            ["", "name", "server", "workspace"],
            all.map((one) => [one.current ? "*" : "", one.name, one.server, one.workspace ?? ""])
          )
    )
  }, Effect.provide(StoredContexts.layer))
).pipe(Command.withDescription("List the contexts; * marks the current context"), Command.withAlias("ls"))

const useCommand = Command.make(
  "use",
  { name: nameArgument, json: jsonFlag, format: formatFlag },
  Effect.fn("context use")(function* ({ json, name }) {
    const contexts = yield* StoredContexts
    const known = yield* contexts.known
    const found = known.contexts[name]
    if (found === undefined) return yield* unknown(name)
    yield* contexts.store({ ...known, current: name })
    yield* print(json, { name, ...found, current: true }, `Commands go to ${found.server} now.`)
  }, Effect.provide(StoredContexts.layer))
).pipe(Command.withDescription("Select the current context"))

const setCommand = Command.make(
  "set",
  {
    name: nameArgument,
    server: Flag.optional(
      Flag.String("server").pipe(Flag.withDescription("Origin of the server"), Flag.withMetavar("origin"))
    ),
    workspace: Flag.optional(
      Flag.String("workspace").pipe(
        Flag.withDescription("Handle or id of a Workspace on the server; empty for none"),
        Flag.withMetavar("handle")
      )
    ),
    json: jsonFlag,
    format: formatFlag
  },
  Effect.fn("context set")(function* ({ json, name, server, workspace }) {
    const contexts = yield* StoredContexts
    const known = yield* contexts.known
    const before = known.contexts[name]
    const origin = Option.isSome(server) ? yield* serverOrigin(server.value) : before?.server
    if (origin === undefined)
      return yield* new CommandFailed({ ...misuse, message: `${name} is new. Name its server with --server.` })
    // Keep the Workspace only if the server remains the same, because a Workspace exists on only one server.
    const kept = before?.server === origin ? before.workspace : undefined
    const place = Option.getOrElse(workspace, () => kept ?? "")
    const context: StoredContext = { server: origin, ...(place === "" ? {} : { workspace: place }) }
    const current = known.current ?? name
    yield* contexts.store({ current, contexts: { ...known.contexts, [name]: context } })
    yield* print(
      json,
      { name, ...context, current: current === name },
      `${name} is ${origin}${place === "" ? "" : `, Workspace ${place}`}.`
    )
  }, Effect.provide(StoredContexts.layer))
).pipe(Command.withDescription("Create or change a context; the first context becomes the current one"))

const removeCommand = Command.make(
  "remove",
  { name: nameArgument, json: jsonFlag, format: formatFlag },
  Effect.fn("context remove")(function* ({ json, name }) {
    const contexts = yield* StoredContexts
    const { contexts: known, current } = yield* contexts.known
    if (known[name] === undefined) return yield* unknown(name)
    const rest = Object.fromEntries(Object.entries(known).filter(([each]) => each !== name))
    yield* contexts.store({ ...(current === undefined || current === name ? {} : { current }), contexts: rest })
    yield* print(
      json,
      { name, removed: true },
      `The context ${name} was removed. Its login stays: \`svc logout\` ends it.`
    )
  }, Effect.provide(StoredContexts.layer))
).pipe(Command.withDescription("Remove a context"), Command.withAlias("rm"))

export const contextCommand = Command.make("context").pipe(
  Command.withDescription("Named servers and Workspaces, and the current context of commands"),
  Command.withSubcommands([listCommand, useCommand, setCommand, removeCommand])
)
