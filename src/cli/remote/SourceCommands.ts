import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { UpdateSource } from "../../../schema/api/SourcesApi.ts"
import type { SourceId } from "../../../schema/records/Ids.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { signingTokenOf } from "../../../schema/records/SigningToken.ts"
import { PullRequestPolicy, SyncIntent } from "../../../schema/records/Source.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, misuse, print, printSecret } from "../Output.ts"
import { confirmationFlags, withConfirmation } from "../session/BrowserConfirmation.ts"
import { runFlags, planned } from "./PlanCommands.ts"
import { patiently } from "./Patience.ts"
import { progress } from "./Progress.ts"
import { onServer } from "./Remote.ts"
import { anyNumber } from "../ValueFlags.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { awaitRun, endOf, resultText } from "./RunEnd.ts"
import { factsText, rowsText, shortCommit, timeText } from "./Rows.ts"
import { capsulesOf, connectionNamed, sourceNamed, sourcesOf, workspaceNamed } from "./Selection.ts"
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

/** Reads the lanes of a Source, and the Capsules that are behind the newest commit of their lane. */
const foundIn = Effect.fnUntraced(function* (sourceId: SourceId) {
  const { sources } = yield* SvcClient
  const { source } = yield* sources.read({ params: { sourceId } })
  const lanes = source.lanes ?? []
  const behind = (yield* capsulesOf(source.workspaceId)).flatMap((one) => {
    const { adoptedSourceRevision: deployed, environment, id: capsuleId, name, status } = one
    if (one.sourceId !== sourceId || deployed === undefined) return []
    if (status === "destroyed" || status === "released") return []
    const newest = lanes.find(({ path, ref }) => ref === deployed.ref && path === deployed.path)?.commit
    return newest === undefined || newest === deployed.resolvedCommit
      ? []
      : [{ capsuleId, name, environment, deployedCommit: deployed.resolvedCommit, newestCommit: newest }]
  })
  return { lanes, behind }
})

type Found = Effect.Success<ReturnType<typeof foundIn>>

const syncText = (run: Run, lanes: Found["lanes"], behind: Found["behind"]) =>
  [
    resultText(run),
    ...lanes.map(({ commit, error, path, ref }) => {
      const at = error === undefined ? (shortCommit(commit) ?? "not read yet") : terminalText(error.message)
      return `  ${terminalText(ref)} ${terminalText(path)}: ${at}`
    }),
    ...(behind.length === 0
      ? ["Every Capsule of it has the newest commit."]
      : behind.map(
          ({ deployedCommit, environment, name, newestCommit }) =>
            `${terminalText(name)}/${environment} is behind: ${shortCommit(deployedCommit)}, newest ${shortCommit(newestCommit)}. See what would change with \`svc plan ${terminalText(name)}\`.`
        ))
  ].join("\n")

const syncCommand = Command.make(
  "sync",
  {
    ...runFlags,
    intent: Flag.optional(
      Flag.Literals("intent", SyncIntent.literals).pipe(
        Flag.withDescription("manual_plan: no automatic update follows; default: observe")
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
      if (!given.wait) return yield* planned(run, given)
      const ended = yield* awaitRun(run, given.waitTimeout, given.json)
      const { behind, lanes } = yield* patiently(foundIn(id))
      yield* print(given.json, { run: ended, lanes, behind }, syncText(ended, lanes, behind))
      yield* endOf(ended)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Read the repository now, and store its newest commit as a snapshot"),
  Command.withExamples([{ command: "svc source sync network", description: "Do not wait for the next scheduled sync" }])
)

const text = (name: string, description: string, metavar: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar)))

const decodeChange = Schema.decodeUnknownEffect(UpdateSource)

const setCommand = Command.make(
  "set",
  {
    ...workspaceFlags,
    name: text("name", "The new name", "text"),
    ref: text("ref", "Branch, tag or commit that Capsules follow by default", "ref"),
    path: text("path", "Folder of the repository to include in snapshots; . for the whole repository", "path"),
    connection: text("connection", "Connection for the Git server; none removes it", "name"),
    forge: text("forge", "Connection of kind forge for its pull requests; none removes it", "name"),
    autoSync: Flag.optional(
      Flag.Boolean("auto-sync").pipe(
        Flag.withDescription("Sync by schedule and webhook; with --no-auto-sync only on request")
      )
    ),
    reviewedRef: Flag.String("reviewed-ref").pipe(
      Flag.withDescription(
        "Another ref whose plans may use private inputs, regardless of who starts them; replaces the list; may be repeated"
      ),
      Flag.withMetavar("ref"),
      anyNumber
    ),
    noReviewedRefs: Flag.Boolean("no-other-reviewed-refs").pipe(
      Flag.withDescription("Clear that list"),
      Flag.withDefault(false)
    ),
    pullRequests: Flag.optional(
      Flag.Literals("pull-requests", PullRequestPolicy.literals).pipe(
        Flag.withDescription("off, a static review of each, or also plans of own_branches")
      )
    ),
    status: Flag.optional(
      Flag.Literals("status", ["active", "disabled"]).pipe(Flag.withDescription("disabled stops every sync"))
    ),
    source: sourceArgument
  },
  Effect.fn("source set")((given) =>
    Effect.gen(function* () {
      const { sources } = yield* SvcClient
      const field = <A>(key: string, value: Option.Option<A>) =>
        Option.match(value, { onNone: () => ({}), onSome: (some) => ({ [key]: some }) })
      const { id } = yield* sourceNamed(given.source, given.workspace)
      const connectionField = Effect.fnUntraced(function* (key: string, value: Option.Option<string>) {
        if (Option.isNone(value)) return {}
        return { [key]: value.value === "none" ? null : (yield* connectionNamed(value.value, given.workspace)).id }
      })
      const change = {
        ...field("name", given.name),
        ...field("defaultRef", given.ref),
        ...field("defaultPath", given.path),
        ...field("autoSync", given.autoSync),
        ...field("status", given.status),
        ...field("pullRequests", given.pullRequests),
        ...(yield* connectionField("authConnectionId", given.connection)),
        ...(yield* connectionField("forgeConnectionId", given.forge)),
        ...(given.reviewedRef.length > 0 || given.noReviewedRefs ? { reviewedRefs: given.reviewedRef } : {})
      }
      const refused = (message: string) => new CommandFailed({ ...misuse, message })
      if (Object.keys(change).length === 0) {
        return yield* refused("Nothing would change: name what to set. `svc source set --help` lists it.")
      }
      const payload = yield* decodeChange(change).pipe(
        Effect.mapError(({ message }) => refused(`The change is not valid: ${message}`))
      )
      const { source } = yield* sources.update({ params: { sourceId: id }, payload })
      yield* print(
        given.json,
        { source },
        factsText([
          ["name", terminalText(source.name)],
          ["status", source.status],
          ["ref", terminalText(source.defaultRef)],
          ["path", terminalText(source.defaultPath)],
          ["connection", source.authConnectionId ?? "none"],
          ["looks", source.autoSync ? "by schedule and webhook" : "on request"],
          ["reviewed", source.reviewedRefs.map(terminalText).join(", ")],
          ["pull requests", source.pullRequests],
          ["forge", source.forgeConnectionId ?? "none"]
        ])
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Change a Source: its name, ref, path, Connection or automatic syncs"),
  Command.withExamples([
    { command: "svc source set network --no-auto-sync", description: "Sync only on request" },
    {
      command: "svc source set network --reviewed-ref staging",
      description: "Plans of this branch may use private inputs"
    },
    {
      command: "svc source set network --pull-requests own_branches",
      description: "Plan pull requests whose branch is in the same repository"
    }
  ])
)

const endFormerFlag = Flag.Boolean("end-former-now").pipe(
  Flag.withDescription("Invalidate the current secret immediately, because it was disclosed"),
  Flag.withDefault(false)
)

const hookSecretCommand = Command.make(
  "hook-secret",
  { ...workspaceFlags, ...confirmationFlags, endFormerNow: endFormerFlag, source: sourceArgument },
  Effect.fn("source hook-secret")((given) =>
    Effect.gen(function* () {
      const { hookSecretVersion, id, name, workspaceId } = yield* sourceNamed(given.source, given.workspace)
      const { endFormerNow } = given
      yield* progress(
        endFormerNow
          ? `The present webhook secret of ${terminalText(name)} stops working at once: the Git server's calls are refused until it has the new secret.`
          : `The current webhook secret of ${terminalText(name)} remains valid until the Git server uses the new secret, for at most a day.`
      )
      const asked = { workspaceId, action: "source.hook_secret.renew", targetId: id } as const
      const { hookSecret } = yield* withConfirmation(
        given,
        asked
      )((headers) =>
        Effect.gen(function* () {
          const { sources } = yield* SvcClient
          const answer = yield* sources.renewHookSecret({
            params: { sourceId: id },
            headers,
            // Makes the server refuse the renewal if somebody else has renewed the secret since it was read.
            payload: { hookSecretVersion, ...(endFormerNow ? { endFormerNow } : {}) }
          })
          return "hookSecret" in answer
            ? answer
            : yield* new CommandFailed({ message: "The server returned no secret. Run the command again." })
        })
      )
      const { discovery } = yield* SvcClient
      const { apiBaseUrl } = yield* discovery.capabilities()
      // Use the address that the server advertises, because the Git server may be unable to reach svc at the address that
      // this command uses.
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
      // If the secret cannot be printed, do nothing: the secret that the Git server has remains valid, and another renewal
      // replaces the new secret, which nobody has seen.
      yield* printSecret(printed, "secret", Effect.fail("renewed already"))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription(
    "Create a new webhook secret and print it with the address; requires confirmation in the browser"
  ),
  Command.withExamples([
    {
      command: "svc source hook-secret network --password-stdin < password.txt",
      description: "Without a terminal"
    }
  ])
)

export const sourceCommand = Command.make("source").pipe(
  Command.withDescription("Git repositories"),
  Command.withSubcommands([listCommand, syncCommand, setCommand, hookSecretCommand])
)
