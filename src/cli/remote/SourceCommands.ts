import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SyncIntent } from "../../../schema/records/Source.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { planFlags, planned } from "./PlanCommands.ts"
import { onServer } from "./Remote.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { rowsText, timeText } from "./Rows.ts"
import { sourceNamed, sourcesOf, workspaceNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const listCommand = Command.make(
  "list",
  workspaceFlags,
  Effect.fn("source list")((given) =>
    Effect.gen(function* () {
      const workspace = yield* workspaceNamed(given.workspace)
      const sources = yield* sourcesOf(workspace.id)
      yield* print(
        given.json,
        { sources },
        sources.length === 0
          ? `${workspace.handle} has no Source. The first install of a repository makes one.`
          : rowsText(
              ["name", "status", "ref", "synced", "url", "id"],
              sources.map((source) => [
                terminalText(source.name),
                source.status,
                terminalText(source.defaultRef),
                timeText(source.lastSyncedAt) ?? "never",
                terminalText(source.url),
                source.id
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the Git repositories of a Workspace"), Command.withAlias("ls"))

const syncCommand = Command.make(
  "sync",
  {
    ...planFlags,
    intent: Flag.optional(
      Flag.Literals("intent", SyncIntent.literals).pipe(
        Flag.withDescription("manual_plan: no automatic update follows; else observe")
      )
    ),
    source: Argument.String("source").pipe(Argument.withDescription("Name of the Source, or its id"))
  },
  Effect.fn("source sync")((given) =>
    Effect.gen(function* () {
      const { sources } = yield* SvcClient
      const { id } = yield* sourceNamed(given.source, given.workspace)
      const payload = Option.match(given.intent, { onNone: () => ({}), onSome: (intent) => ({ intent }) })
      const { run } = yield* sources.sync({ params: { sourceId: id }, payload })
      yield* planned(run, given)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Look at the repository now, and pin its newest commit as a snapshot"),
  Command.withExamples([{ command: "svc source sync network", description: "Do not wait for the next scheduled sync" }])
)

export const sourceCommand = Command.make("source").pipe(
  Command.withDescription("Git repositories"),
  Command.withSubcommands([listCommand, syncCommand])
)
