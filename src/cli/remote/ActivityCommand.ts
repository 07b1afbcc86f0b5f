import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import type { AuditEvent } from "../../../schema/records/AuditEvent.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { allPages } from "./Pages.ts"
import { onServer } from "./Remote.ts"
import { intFlag, pastTimeFlag } from "../ValueFlags.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { rowsText, timeText } from "./Rows.ts"
import { capsuleNamed, workspaceNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const text = (name: string, description: string, metavar: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar)))

const whoText = ({ actor }: AuditEvent) =>
  actor.kind === "user" || actor.kind === "service"
    ? (actor.subject ?? actor.kind)
    : `${actor.subject ?? ""} (${actor.kind})`

const defaultEvents = 50

const listCommand = Command.make(
  "list",
  {
    ...workspaceFlags,
    since: Flag.optional(
      pastTimeFlag("since").pipe(Flag.withDescription("Only events since this time: 7d, 12h, a date or a time"))
    ),
    until: Flag.optional(pastTimeFlag("until").pipe(Flag.withDescription("Only events before this time"))),
    action: text("action", "Only this action, such as run.approve", "name"),
    capsule: text("capsule", "Only events about this Capsule", "name"),
    actor: text("actor", "Only actions of this subject", "subject"),
    run: text("run", "Only events about this Run", "id"),
    limit: intFlag("limit", 1).pipe(
      Flag.withDescription(`Number of events, newest first; default: ${defaultEvents}`),
      Flag.withDefault(defaultEvents)
    )
  },
  Effect.fn("activity list")((given) =>
    Effect.gen(function* () {
      const { workspaces } = yield* SvcClient
      const workspace = yield* workspaceNamed(given.workspace)
      const capsule = Option.isSome(given.capsule)
        ? { capsuleId: (yield* capsuleNamed(given.capsule.value, Option.some(workspace.id))).id }
        : {}
      const asked = {
        ...capsule,
        ...Option.match(given.since, { onNone: () => ({}), onSome: (since) => ({ since }) }),
        ...Option.match(given.until, { onNone: () => ({}), onSome: (until) => ({ until }) }),
        ...Option.match(given.action, { onNone: () => ({}), onSome: (action) => ({ action }) }),
        ...Option.match(given.actor, { onNone: () => ({}), onSome: (actor) => ({ actor }) }),
        ...Option.match(given.run, { onNone: () => ({}), onSome: (runId) => ({ runId }) })
      }
      const events = yield* allPages(
        (query) =>
          Effect.map(
            workspaces.activity({ params: { workspaceId: workspace.id }, query: { ...query, ...asked } }),
            ({ events: items, nextCursor }) => ({ items, nextCursor })
          ),
        given.limit
      )
      yield* print(
        given.json,
        { events },
        events.length === 0
          ? "Nothing of that kind happened."
          : rowsText(
              ["when", "who", "action", "what", "run"],
              events.map((event) => [
                timeText(event.createdAt) ?? "",
                terminalText(whoText(event)),
                event.action,
                `${event.target.kind} ${terminalText(event.target.id)}`,
                event.runId ?? ""
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the actions of people, tokens and the service in a Workspace, newest first"),
  Command.withAlias("ls"),
  Command.withExamples([
    { command: "svc activity list --since 7d --capsule network", description: "A week of one Capsule" },
    { command: "svc activity list --action run.approve --json", description: "All approvals" }
  ])
)

export const activityCommand = Command.make("activity").pipe(
  Command.withDescription("The history of a Workspace"),
  Command.withSubcommands([listCommand])
)
