import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { signingTokenOf } from "../../../schema/records/SigningToken.ts"
import { SyncIntent } from "../../../schema/records/Source.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, print, printSecret } from "../Output.ts"
import { asPerson, sessionFlags } from "../session/PersonSession.ts"
import { planFlags, planned } from "./PlanCommands.ts"
import { progress } from "./Progress.ts"
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

const sourceArgument = Argument.String("source").pipe(Argument.withDescription("Name of the Source, or its id"))

const syncCommand = Command.make(
  "sync",
  {
    ...planFlags,
    intent: Flag.optional(
      Flag.Literals("intent", SyncIntent.literals).pipe(
        Flag.withDescription("manual_plan: no automatic update follows; else observe")
      )
    ),
    source: sourceArgument
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

const hookSecretCommand = Command.make(
  "hook-secret",
  { ...workspaceFlags, ...sessionFlags, source: sourceArgument },
  Effect.fn("source hook-secret")((given) =>
    Effect.gen(function* () {
      const { hookSecretVersion, id, name } = yield* sourceNamed(given.source, given.workspace)
      yield* progress(
        `The present webhook secret of ${terminalText(name)} stops working at once: the Git server's calls are refused until it has the new secret.`
      )
      const { hookSecret } = yield* asPerson(given)(
        Effect.gen(function* () {
          const { sources } = yield* SvcClient
          const answer = yield* sources.renewHookSecret({
            params: { sourceId: id },
            headers: {},
            // Refused if somebody else renewed the secret since it was read.
            payload: { hookSecretVersion }
          })
          return "hookSecret" in answer
            ? answer
            : yield* new CommandFailed({ message: "The server returned no secret. Run the command again." })
        })
      )
      const { discovery } = yield* SvcClient
      const { apiBaseUrl } = yield* discovery.capabilities()
      // The address at which the Git server reaches svc may differ from the address that this command uses.
      const url = new URL(`../../hooks/sources/${id}`, `${apiBaseUrl}/`).href
      const signingToken = signingTokenOf(hookSecret)
      const printed = print(
        given.json,
        { sourceId: id, url, hookSecret, signingToken },
        [
          `Address               ${url}`,
          "Content type          application/json",
          `Secret                ${hookSecret}`,
          `GitLab signing token  ${signingToken}`,
          "The secret is shown only now. Set it in the webhook of the Git server; the signing token is the same secret for GitLab."
        ].join("\n")
      )
      // Another renewal ends it.
      yield* printSecret(printed, "secret", Effect.fail("renewed already"))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Make a new webhook secret and print it with the address; asks for your password"),
  Command.withExamples([
    {
      command: "svc source hook-secret network --password-stdin < password.txt",
      description: "Without a terminal"
    }
  ])
)

export const sourceCommand = Command.make("source").pipe(
  Command.withDescription("Git repositories"),
  Command.withSubcommands([listCommand, syncCommand, hookSecretCommand])
)
