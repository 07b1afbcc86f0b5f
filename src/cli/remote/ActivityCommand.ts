import { Clock, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import type { AuditEvent } from "../../../schema/records/AuditEvent.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { allPages } from "./Pages.ts"
import { onServer } from "./Remote.ts"
import { exitCodes } from "../ExitCodes.ts"
import { RemoteFailed } from "./RemoteFailed.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { rowsText, timeText } from "./Rows.ts"
import { capsuleNamed, workspaceNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const text = (name: string, description: string, metavar: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar)))

const unitMillis = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
  ["w", 604_800_000]
])
const duration = /^([1-9][0-9]{0,4})([mhdw])$/
const timeForm = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** A time in the past: a date, a time, or how long ago. */
const pastTime = Effect.fnUntraced(function* (flag: string, given: string) {
  const [, count, unit = ""] = duration.exec(given) ?? []
  const at =
    count === undefined
      ? timeForm.test(given)
        ? Date.parse(given)
        : Number.NaN
      : (yield* Clock.currentTimeMillis) - Number(count) * (unitMillis.get(unit) ?? 0)
  return Number.isNaN(at)
    ? yield* new RemoteFailed({
        code: "usage",
        exitCode: exitCodes.usage,
        message: `--${flag}: expected how long ago, such as 30m, 12h or 7d, a date such as 2027-01-31, or a time such as 2027-01-31T09:30:00Z.`
      })
    : new Date(at).toISOString()
})

const whoText = ({ actor }: AuditEvent) =>
  actor.kind === "user" || actor.kind === "service"
    ? (actor.subject ?? actor.kind)
    : `${actor.subject ?? ""} (${actor.kind})`

const defaultEvents = 50

const listCommand = Command.make(
  "list",
  {
    ...workspaceFlags,
    since: text("since", "Only what happened since then: 7d, 12h, a date or a time", "time"),
    until: text("until", "Only what happened before then", "time"),
    action: text("action", "Only this action, such as run.approve", "name"),
    capsule: text("capsule", "Only what concerns this Capsule", "name"),
    actor: text("actor", "Only what this subject did", "subject"),
    run: text("run", "Only what concerns this Run", "id"),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription("How many of the newest events"),
      Flag.withDefault(defaultEvents),
      Flag.filter(
        (count) => count > 0,
        (count) => `--limit ${count}: expected a number above 0`
      )
    )
  },
  Effect.fn("activity list")((given) =>
    Effect.gen(function* () {
      const { workspaces } = yield* SvcClient
      const time = Effect.fnUntraced(function* (flag: "since" | "until") {
        const value = given[flag]
        return Option.isSome(value) ? { [flag]: yield* pastTime(flag, value.value) } : {}
      })
      const filters = { ...(yield* time("since")), ...(yield* time("until")) }
      const workspace = yield* workspaceNamed(given.workspace)
      const capsule = Option.isSome(given.capsule)
        ? { capsuleId: (yield* capsuleNamed(given.capsule.value, Option.some(workspace.id))).id }
        : {}
      const asked = {
        ...filters,
        ...capsule,
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
  Command.withDescription("List what people, tokens and the service did in a Workspace, newest first"),
  Command.withAlias("ls"),
  Command.withExamples([
    { command: "svc activity list --since 7d --capsule network", description: "A week of one Capsule" },
    { command: "svc activity list --action run.approve --json", description: "Who approved what" }
  ])
)

export const activityCommand = Command.make("activity").pipe(
  Command.withDescription("The history of a Workspace"),
  Command.withSubcommands([listCommand])
)
