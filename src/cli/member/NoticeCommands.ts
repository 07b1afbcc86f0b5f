import { Effect, Option, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import {
  type NoticeDelivery,
  NoticeDeliveryStatus,
  type NoticeEndpoint,
  NoticeEndpointName,
  type NoticeFilter,
  NoticeFormat,
  NoticeKind
} from "../../../schema/records/NoticeEndpoint.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, misuse, print, printSecret } from "../Output.ts"
import { agreed, yesFlag } from "../remote/Confirmation.ts"
import { allPages } from "../remote/Pages.ts"
import { onServer } from "../remote/Remote.ts"
import { idempotencyKeyFlag, keyHeaders, workspaceFlags } from "../remote/RemoteFlags.ts"
import { factsText, rowsText, timeText } from "../remote/Rows.ts"
import { capsuleNamed, onlyNamed, projectNamed, workspaceNamed } from "../remote/Selection.ts"
import { anyNumber, durationFlag, intFlag } from "../ValueFlags.ts"

const endpointsOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const { notices } = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(notices.endpoints({ params: { workspaceId }, query }), ({ endpoints: items, nextCursor }) => ({
      items,
      nextCursor
    }))
  )
})

/** Finds an endpoint of a Workspace by id or by name. */
const endpointNamed = Effect.fn("endpointNamed")(function* (named: string, workspace: Option.Option<string>) {
  const { id: workspaceId } = yield* workspaceNamed(workspace)
  const all = yield* endpointsOf(workspaceId)
  const words = { what: "notice endpoint", several: "notice endpoints", list: "svc notice list" }
  const endpoint = all.find(({ id }) => id === named) ?? (yield* onlyNamed(all, ({ name }) => name, named, words))
  return { endpoint, params: { workspaceId, endpointId: endpoint.id } }
})

const reasons = {
  person: "by a member",
  failing: "deliveries failed for five days",
  gone: "the receiver responded 410",
  restored: "the server was restored from a backup"
} as const

const stateText = ({ failingSince, reason, state }: NoticeEndpoint) => {
  if (reason !== undefined) return `${state}: ${reasons[reason]}`
  return failingSince === undefined ? state : `${state}, failing since ${timeText(failingSince)}`
}

const filterText = ({ capsuleIds, environments, projectIds }: NoticeFilter) =>
  [...(capsuleIds ?? []), ...(projectIds ?? []), ...(environments ?? [])].join(", ") || "all"

const endpointsText = (endpoints: ReadonlyArray<NoticeEndpoint>) =>
  rowsText(
    ["name", "format", "host", "kinds", "Capsules", "state", "waiting", "id"],
    endpoints.map((one) => [
      one.name,
      one.format,
      one.host,
      one.kinds.length === NoticeKind.literals.length ? "all" : one.kinds.join(", "),
      filterText(one.filter),
      stateText(one),
      String(one.waiting),
      one.id
    ])
  )

const deliveriesText = (deliveries: ReadonlyArray<NoticeDelivery>) =>
  rowsText(
    ["created", "kind", "status", "attempts", "last result", "next attempt", "id"],
    deliveries.map((one) => [
      timeText(one.createdAt) ?? "",
      one.kind,
      one.status,
      String(one.attempts),
      [one.lastOutcome, one.lastStatus].filter((part) => part !== undefined).join(" "),
      timeText(one.nextAttemptAt) ?? "",
      one.id
    ])
  )

const endpointArgument = Argument.String("endpoint").pipe(Argument.withDescription("Name of the endpoint, or its id"))

const kindFlag = anyNumber(
  Flag.Literals("kind", NoticeKind.literals).pipe(
    Flag.withDescription("A kind of notice, such as run.waiting_approval; may be repeated")
  )
)

const filterFlags = {
  project: anyNumber(
    Flag.String("project").pipe(
      Flag.withDescription("Only notices about Capsules of this Project; may be repeated"),
      Flag.withMetavar("name")
    )
  ),
  environment: anyNumber(
    Flag.String("environment").pipe(
      Flag.withDescription("Only notices about Capsules in this environment; may be repeated"),
      Flag.withMetavar("name")
    )
  ),
  capsule: anyNumber(
    Flag.String("capsule").pipe(
      Flag.withDescription("Only notices about this Capsule; may be repeated"),
      Flag.withMetavar("name")
    )
  )
}

interface GivenFilter {
  readonly workspace: Option.Option<string>
  readonly project: ReadonlyArray<string>
  readonly environment: ReadonlyArray<string>
  readonly capsule: ReadonlyArray<string>
}

const filterFrom = Effect.fnUntraced(function* (given: GivenFilter, workspaceId: WorkspaceId) {
  const projects = yield* Effect.forEach(given.project, (name) => projectNamed(name, workspaceId))
  const capsules = yield* Effect.forEach(given.capsule, (name) => capsuleNamed(name, given.workspace))
  const filter: NoticeFilter = {
    ...(projects.length === 0 ? {} : { projectIds: projects.map(({ id }) => id) }),
    ...(given.environment.length === 0 ? {} : { environments: given.environment }),
    ...(capsules.length === 0 ? {} : { capsuleIds: capsules.map(({ id }) => id) })
  }
  return filter
})

/**
 * Reads an address from the argument, or from standard input if the argument is `-`. Chat addresses contain a secret, and
 * other users can read arguments.
 */
export const addressFrom = Effect.fnUntraced(function* (given: string) {
  const { stdin } = yield* Stdio.Stdio
  const address = given === "-" ? (yield* Stream.mkString(Stream.decodeText(stdin))).trim() : given
  if (/^https?:/.test(address) && URL.canParse(address)) return address
  // Do not repeat the text in errors, because it may be a chat address, which contains a secret.
  const place = given === "-" ? "Standard input" : "The address"
  return yield* new CommandFailed({
    ...misuse,
    message: `${place} must be a URL such as https://hooks.example.com/svc.`
  })
})

const secretText = (endpoint: NoticeEndpoint, secret: string) =>
  `${factsText([
    ["endpoint", `${endpoint.name} (${endpoint.id})`],
    ["secret", secret]
  ])}\n\nThe secret is shown only now. Receivers verify signatures with it: see docs/notices.md.`

const listCommand = Command.make(
  "list",
  workspaceFlags,
  Effect.fn("notice list")((given) =>
    Effect.gen(function* () {
      const { handle, id } = yield* workspaceNamed(given.workspace)
      const endpoints = yield* endpointsOf(id)
      if (given.json) return yield* print(true, { endpoints }, "")
      yield* print(
        false,
        endpoints,
        endpoints.length === 0
          ? `${handle} sends no notices. Create an endpoint with \`svc notice create\`.`
          : endpointsText(endpoints)
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the endpoints that receive notices of a Workspace"),
  Command.withAlias("ls"),
  Command.withExamples([
    { command: "svc notice list", description: "With the state and the number of waiting notices" }
  ])
)

const createCommand = Command.make(
  "create",
  {
    ...workspaceFlags,
    receiver: Flag.Literals("for", NoticeFormat.literals).pipe(
      Flag.withDescription("Signed JSON, or the format of a chat"),
      Flag.withDefault("json")
    ),
    kind: kindFlag,
    ...filterFlags,
    idempotencyKey: idempotencyKeyFlag,
    name: Argument.String("name").pipe(
      Argument.withDescription("Name of the new endpoint"),
      Argument.withSchema(NoticeEndpointName)
    ),
    address: Argument.String("address").pipe(
      Argument.withDescription("https address of the receiver; `-` reads it from standard input")
    )
  },
  Effect.fn("notice create")((given) =>
    Effect.gen(function* () {
      const { notices } = yield* SvcClient
      const { id: workspaceId } = yield* workspaceNamed(given.workspace)
      const answer = yield* notices.createEndpoint({
        params: { workspaceId },
        headers: yield* keyHeaders(given.idempotencyKey),
        payload: {
          name: given.name,
          address: yield* addressFrom(given.address),
          format: given.receiver,
          kinds: given.kind.length === 0 ? NoticeKind.literals : given.kind,
          filter: yield* filterFrom(given, workspaceId)
        }
      })
      const { endpoint } = answer
      const secret = "secret" in answer ? answer.secret : undefined
      const printed = given.json
        ? print(true, answer, "")
        : print(false, answer, secret === undefined ? endpointsText([endpoint]) : secretText(endpoint, secret))
      yield* secret === undefined
        ? printed
        : printSecret(printed, "secret", notices.removeEndpoint({ params: { workspaceId, endpointId: endpoint.id } }))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Send notices to an address; admins and owners"),
  Command.withExamples([
    {
      command: "svc notice create ops https://hooks.example.com/svc --kind run.waiting_approval --kind run.failed",
      description: "Two kinds of notices as signed JSON"
    },
    {
      command: "svc notice create chat - --for slack --environment production < address.txt",
      description: "All kinds about production into a chat, whose address contains a secret"
    }
  ])
)

const setCommand = Command.make(
  "set",
  {
    ...workspaceFlags,
    rename: Flag.optional(Flag.String("name").pipe(Flag.withDescription("The new name"), Flag.withMetavar("name"))),
    address: Flag.optional(
      Flag.String("address").pipe(
        Flag.withDescription("The new address; `-` reads it from standard input"),
        Flag.withMetavar("url")
      )
    ),
    kind: kindFlag,
    ...filterFlags,
    allCapsules: Flag.Boolean("all-capsules").pipe(Flag.withDescription("Remove the filter"), Flag.withDefault(false)),
    state: Flag.optional(
      Flag.Literals("state", ["active", "disabled"]).pipe(Flag.withDescription("Resume or disable the endpoint"))
    ),
    endpoint: endpointArgument
  },
  Effect.fn("notice set")((given) =>
    Effect.gen(function* () {
      const { notices } = yield* SvcClient
      const { params } = yield* endpointNamed(given.endpoint, given.workspace)
      const filter = yield* filterFrom(given, params.workspaceId)
      const isFiltered = Object.keys(filter).length > 0
      if (isFiltered && given.allCapsules) {
        return yield* new CommandFailed({
          ...misuse,
          message: "--all-capsules removes the filter: give no filter with it."
        })
      }
      const payload = {
        ...Option.match(given.rename, { onNone: () => ({}), onSome: (name) => ({ name }) }),
        ...(Option.isSome(given.address) ? { address: yield* addressFrom(given.address.value) } : {}),
        ...(given.kind.length === 0 ? {} : { kinds: given.kind }),
        ...(isFiltered || given.allCapsules ? { filter } : {}),
        ...Option.match(given.state, { onNone: () => ({}), onSome: (state) => ({ state }) })
      }
      if (Object.keys(payload).length === 0) {
        return yield* new CommandFailed({
          ...misuse,
          message: "Nothing to change. `svc notice set --help` lists the flags."
        })
      }
      const { endpoint } = yield* notices.updateEndpoint({ params, payload })
      yield* print(given.json, given.json ? { endpoint } : endpoint, endpointsText([endpoint]))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Change an endpoint; admins and owners"),
  Command.withExamples([
    { command: "svc notice set ops --state active", description: "Resume after five days of failure" },
    { command: "svc notice set ops --kind run.failed --all-capsules", description: "Replace the kinds and the filter" }
  ])
)

const rotateCommand = Command.make(
  "rotate-secret",
  {
    ...workspaceFlags,
    overlap: durationFlag("overlap", { minimum: 60, maximum: 604_800 }).pipe(
      Flag.withDescription("Time for which the previous secret remains valid, such as 2h; default: one day"),
      Flag.optional
    ),
    idempotencyKey: idempotencyKeyFlag,
    endpoint: endpointArgument
  },
  Effect.fn("notice rotate-secret")((given) =>
    Effect.gen(function* () {
      const { notices } = yield* SvcClient
      const { endpoint: before, params } = yield* endpointNamed(given.endpoint, given.workspace)
      if (before.secretVersion === undefined) {
        return yield* new CommandFailed({
          ...misuse,
          message: `${before.name} has no secret: only endpoints with the format json are signed.`
        })
      }
      const answer = yield* notices.rotateSecret({
        params,
        headers: yield* keyHeaders(given.idempotencyKey),
        payload: {
          secretVersion: before.secretVersion,
          ...Option.match(given.overlap, {
            onNone: () => ({}),
            onSome: (millis) => ({ overlapMinutes: Math.round(millis / 60_000) })
          })
        }
      })
      const secret = "secret" in answer ? answer.secret : undefined
      const text =
        secret === undefined
          ? "This request was answered before, and the secret was shown then. Rotate again for a new one."
          : secretText(answer.endpoint, secret)
      // If the secret cannot be printed, do nothing: the previous secret remains valid, and another rotation replaces the
      // new secret, which nobody has seen.
      yield* printSecret(print(given.json, answer, text), "secret", Effect.fail("kept"))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Create a new secret of a JSON endpoint; both secrets are valid for a while"),
  Command.withExamples([
    { command: "svc notice rotate-secret ops --overlap 2h", description: "Two hours for the change" }
  ])
)

const testCommand = Command.make(
  "test",
  { ...workspaceFlags, endpoint: endpointArgument },
  Effect.fn("notice test")((given) =>
    Effect.gen(function* () {
      const { notices } = yield* SvcClient
      const { endpoint, params } = yield* endpointNamed(given.endpoint, given.workspace)
      const { delivery } = yield* notices.testEndpoint({
        params,
        headers: yield* keyHeaders(Option.none()),
        payload: {}
      })
      yield* print(
        given.json,
        given.json ? { delivery } : delivery,
        `${deliveriesText([delivery])}\n\nSee the result with \`svc notice log ${endpoint.name}\`.`
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Send a test notice"),
  Command.withExamples([{ command: "svc notice test ops", description: "`svc notice log ops` shows the result" }])
)

const logCommand = Command.make(
  "log",
  {
    ...workspaceFlags,
    status: Flag.optional(
      Flag.Literals("status", NoticeDeliveryStatus.literals).pipe(
        Flag.withDescription("Only deliveries with this status")
      )
    ),
    only: Flag.optional(
      Flag.Literals("kind", NoticeKind.literals).pipe(Flag.withDescription("Only notices of this kind"))
    ),
    limit: intFlag("limit", 1, 10_000).pipe(
      Flag.withDescription("The newest deliveries, at most this many"),
      Flag.withDefault(20)
    ),
    endpoint: endpointArgument
  },
  Effect.fn("notice log")((given) =>
    Effect.gen(function* () {
      const { notices } = yield* SvcClient
      const { params } = yield* endpointNamed(given.endpoint, given.workspace)
      const selected = {
        ...Option.match(given.status, { onNone: () => ({}), onSome: (status) => ({ status }) }),
        ...Option.match(given.only, { onNone: () => ({}), onSome: (kind) => ({ kind }) })
      }
      const deliveries = yield* allPages(
        (query) =>
          Effect.map(
            notices.deliveries({ params, query: { ...query, ...selected } }),
            ({ deliveries: items, nextCursor }) => ({ items, nextCursor })
          ),
        given.limit
      )
      if (given.json) return yield* print(true, { deliveries }, "")
      yield* print(false, deliveries, deliveries.length === 0 ? "No delivery matches." : deliveriesText(deliveries))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the deliveries to an endpoint, newest first"),
  Command.withExamples([{ command: "svc notice log ops --status failed", description: "Deliveries to repeat" }])
)

const replayCommand = Command.make(
  "replay",
  {
    ...workspaceFlags,
    endpoint: endpointArgument,
    delivery: Argument.String("delivery").pipe(Argument.withDescription("Id of the delivery, from `svc notice log`"))
  },
  Effect.fn("notice replay")((given) =>
    Effect.gen(function* () {
      const { notices } = yield* SvcClient
      const { params } = yield* endpointNamed(given.endpoint, given.workspace)
      const { delivery } = yield* notices.replayDelivery({
        params: { ...params, deliveryId: given.delivery },
        payload: {}
      })
      yield* print(given.json, given.json ? { delivery } : delivery, deliveriesText([delivery]))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Deliver a notice again, with the same `webhook-id`"),
  Command.withExamples([{ command: "svc notice replay ops ndl_...", description: "After the receiver was repaired" }])
)

const removeCommand = Command.make(
  "remove",
  { ...workspaceFlags, yes: yesFlag, endpoint: endpointArgument },
  Effect.fn("notice remove")((given) =>
    Effect.gen(function* () {
      const { notices } = yield* SvcClient
      const { endpoint, params } = yield* endpointNamed(given.endpoint, given.workspace)
      yield* agreed(given, `${endpoint.name} receives nothing more, and its log is deleted.`)
      yield* notices.removeEndpoint({ params })
      yield* print(given.json, { removed: endpoint.id }, `The endpoint ${endpoint.name} was removed.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Remove an endpoint, its log and the waiting notices; admins and owners"),
  Command.withAlias("rm"),
  Command.withExamples([{ command: "svc notice remove ops --yes", description: "Without a terminal" }])
)

export const noticeCommand = Command.make("notice").pipe(
  Command.withDescription("Notices to webhooks and chats"),
  Command.withSubcommands([
    listCommand,
    createCommand,
    setCommand,
    rotateCommand,
    testCommand,
    logCommand,
    replayCommand,
    removeCommand
  ])
)
