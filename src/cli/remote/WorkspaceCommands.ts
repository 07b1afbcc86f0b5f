import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SvcClient } from "../../client/SvcClient.ts"
import { StoredContexts } from "../context/StoredContexts.ts"
import { print } from "../Output.ts"
import { factsText, rowsText, timeText } from "./Rows.ts"
import { allPages } from "./Pages.ts"
import { onServer, Remote } from "./Remote.ts"
import { serverFlags } from "./RemoteFlags.ts"
import { workspaceNamed } from "./Selection.ts"
import { workspaceBackupCommand } from "./WorkspaceBackupCommands.ts"

export const whoamiCommand = Command.make(
  "whoami",
  serverFlags,
  Effect.fn("whoami")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const remote = yield* Remote
      const { origin } = remote
      const { credential, subject, workspaces } = yield* client.dashboard.bootstrap({ query: {} })
      const chosen = Option.getOrUndefined(remote.workspace)
      const named = workspaces.filter(({ handle, id }) => chosen === undefined || handle === chosen || id === chosen)
      const [workspace, ...others] = named
      const place =
        workspace === undefined || others.length > 0
          ? undefined
          : { id: workspace.id, handle: workspace.handle, role: workspace.role }
      yield* print(
        given.json,
        {
          server: origin,
          subject,
          ...(place === undefined ? {} : { workspace: place }),
          ...(credential === undefined ? {} : { credential })
        },
        factsText([
          ["server", origin],
          ["name", subject.displayName],
          ["e-mail", subject.email],
          ["subject", subject.id],
          [
            "workspace",
            place === undefined
              ? (chosen ?? "none chosen: `svc workspace use`")
              : `${place.handle}${place.role === undefined ? "" : `, as ${place.role}`}`
          ],
          ["credential", credential?.kind],
          ["scopes", credential?.scopes?.join(", ")]
        ])
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Show your account on the server"))

const listCommand = Command.make(
  "list",
  serverFlags,
  Effect.fn("workspace list")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const remote = yield* Remote
      const workspaces = yield* allPages((query) =>
        Effect.map(client.workspaces.list({ query }), ({ nextCursor, workspaces: items }) => ({ items, nextCursor }))
      )
      const chosen = Option.getOrUndefined(remote.workspace)
      yield* print(
        given.json,
        { workspaces },
        workspaces.length === 0
          ? "You are in no Workspace."
          : rowsText(
              ["", "handle", "name", "id", "since"],
              workspaces.map(({ createdAt, displayName, handle, id }) => [
                chosen === handle || chosen === id ? "*" : "",
                handle,
                displayName ?? "",
                id,
                timeText(createdAt) ?? ""
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List your Workspaces; * marks the selected Workspace"), Command.withAlias("ls"))

const useCommand = Command.make(
  "use",
  {
    ...serverFlags,
    name: Argument.String("workspace").pipe(Argument.withDescription("Handle or id of the Workspace"))
  },
  Effect.fn("workspace use")((given) =>
    Effect.gen(function* () {
      const { origin } = yield* Remote
      const { handle, id } = yield* workspaceNamed(Option.some(given.name))
      const contexts = yield* StoredContexts
      const { contexts: known, current } = yield* contexts.known
      const name = Option.getOrElse(given.context, () => current ?? new URL(origin).hostname)
      yield* contexts.store({
        current: current ?? name,
        contexts: { ...known, [name]: { server: origin, workspace: handle } }
      })
      yield* print(
        given.json,
        { context: name, server: origin, workspace: { id, handle } },
        `Commands work in ${handle} now (context ${name}).`
      )
    }).pipe(onServer(given), Effect.provide(StoredContexts.layer))
  )
).pipe(
  Command.withDescription("Select the Workspace of the current context"),
  Command.withExamples([{ command: "svc workspace use acme", description: "Commands use acme from now on" }])
)

const createCommand = Command.make(
  "create",
  {
    ...serverFlags,
    displayName: Flag.optional(
      Flag.String("display-name").pipe(Flag.withDescription("Display name"), Flag.withMetavar("text"))
    ),
    handle: Argument.String("handle").pipe(Argument.withDescription("Name in addresses and commands: a-z, 0-9 and -"))
  },
  Effect.fn("workspace create")((given) =>
    Effect.gen(function* () {
      const { workspaces } = yield* SvcClient
      const displayName = Option.match(given.displayName, {
        onNone: () => ({}),
        onSome: (name) => ({ displayName: name })
      })
      const { workspace } = yield* workspaces.create({ payload: { handle: given.handle, ...displayName } })
      yield* print(
        given.json,
        { workspace },
        `${workspace.handle} is made, and you own it. Work in it with \`svc workspace use ${workspace.handle}\`.`
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Create a Workspace with you as its owner"),
  Command.withExamples([
    { command: 'svc workspace create beta --display-name "Beta"', description: "For another team" }
  ])
)

export const workspaceCommand = Command.make("workspace").pipe(
  Command.withDescription("Workspaces"),
  Command.withSubcommands([listCommand, createCommand, useCommand, workspaceBackupCommand]),
  Command.withAlias("ws")
)
