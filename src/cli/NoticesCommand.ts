import { Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { NoticeDeliveryId, NoticeEndpointId } from "../../schema/records/Ids.ts"
import {
  type NoticeDelivery,
  NoticeDeliveryStatus,
  type NoticeEndpoint,
  NoticeEndpointName,
  NoticeFormat,
  NoticeKind
} from "../../schema/records/NoticeEndpoint.ts"
import type { NoticeChange, NoticeResult } from "../operator/NoticeCommands.ts"
import { OperatorNotices } from "../operator/Operator.ts"
import type { Settings } from "../settings/Settings.ts"
import { addressFrom } from "./member/NoticeCommands.ts"
import { jsonFlag, print, printSecret } from "./Output.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"
import { anyNumber } from "./ValueFlags.ts"

const formatted = (endpoints: ReadonlyArray<NoticeEndpoint>): string =>
  endpoints.length === 0
    ? "The server itself sends no notices."
    : endpoints
        .map(
          ({ format, host, id, kinds, name, reason, state, waiting }) =>
            `${id}  ${name}  ${format} to ${host}  ${state}${reason === undefined ? "" : ` (${reason})`}  ${waiting} waiting  ${kinds.join(", ")}`
        )
        .join("\n")

const deliveryLine = ({ attempts, createdAt, id, kind, lastOutcome, lastStatus, status }: NoticeDelivery): string =>
  `${id}  ${createdAt}  ${kind}  ${status}  ${attempts} attempts${lastOutcome === undefined ? "" : `, last ${lastOutcome}`}${lastStatus === undefined ? "" : ` ${lastStatus}`}`

const changedText = ({ delivery, endpoints, secret }: NoticeResult): string =>
  [
    ...(secret === undefined
      ? []
      : [`The secret, shown only now: ${Redacted.value(secret)}. Receivers verify each notice with it.`]),
    ...(delivery === undefined ? [] : [deliveryLine(delivery)]),
    formatted(endpoints)
  ].join("\n")

const withNotices = <A, E>(settings: Settings, use: (notices: OperatorNotices["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(OperatorNotices, use).pipe(Effect.provide(OperatorNotices.layer(settings)))

const endpointArgument = Argument.String("endpoint").pipe(
  Argument.withSchema(NoticeEndpointId),
  Argument.withDescription("nep_...")
)

const kindFlag = anyNumber(
  Flag.Literals("kind", NoticeKind.literals).pipe(
    Flag.withDescription("A kind of notice, such as backup.failed; may be repeated, all kinds by default")
  )
)

const listCommand = Command.make(
  "list",
  { ...dataFlags, json: jsonFlag },
  Effect.fn("notices.list")(function* ({ config, json, ...flags }) {
    const endpoints = yield* withNotices(yield* settingsOf(flags, config), ({ list }) => list)
    yield* print(json, { endpoints }, formatted(endpoints))
  })
).pipe(Command.withDescription("List the server's notice endpoints"))

/** Makes one change and then prints the notice endpoints. */
const changing = Effect.fnUntraced(function* (settings: Settings, json: boolean, change: NoticeChange) {
  const result = yield* withNotices(settings, (notices) => notices.change(change))
  const shown = { ...result, ...(result.secret === undefined ? {} : { secret: Redacted.value(result.secret) }) }
  const printed = print(json, shown, changedText(result))
  if (result.secret === undefined) return yield* printed
  if (change.word !== "add") return yield* printSecret(printed, "secret", Effect.fail("kept"))
  const withdraw = withNotices(settings, (notices) =>
    Effect.forEach(result.endpoints.slice(-1), ({ id }) => notices.change({ word: "remove", id }), { discard: true })
  )
  yield* printSecret(printed, "secret", withdraw)
})

const addCommand = Command.make(
  "add",
  {
    ...dataFlags,
    receiver: Flag.Literals("for", NoticeFormat.literals).pipe(
      Flag.withDescription("Signed JSON, or the format of a chat"),
      Flag.withDefault("json")
    ),
    kind: kindFlag,
    name: Argument.String("name").pipe(
      Argument.withDescription("Name of the new endpoint"),
      Argument.withSchema(NoticeEndpointName)
    ),
    address: Argument.String("address").pipe(
      Argument.withDescription("https address of the receiver; `-` reads it from standard input")
    ),
    json: jsonFlag
  },
  Effect.fn("notices.add")(function* ({ address, kind, name, receiver, config, json, ...flags }) {
    yield* changing(yield* settingsOf(flags, config), json, {
      word: "add",
      name,
      address: yield* addressFrom(address),
      format: receiver,
      kinds: kind.length === 0 ? NoticeKind.literals : kind
    })
  })
).pipe(Command.withDescription("Send the notices of all Workspaces and of the server to an address"))

const setCommand = Command.make(
  "set",
  {
    ...dataFlags,
    kind: kindFlag,
    state: Flag.optional(
      Flag.Literals("state", ["active", "disabled"]).pipe(Flag.withDescription("Resume or disable the endpoint"))
    ),
    endpoint: endpointArgument,
    json: jsonFlag
  },
  Effect.fn("notices.set")(function* ({ endpoint, kind, state, config, json, ...flags }) {
    yield* changing(yield* settingsOf(flags, config), json, {
      word: "set",
      id: endpoint,
      ...(kind.length === 0 ? {} : { kinds: kind }),
      ...(Option.isSome(state) ? { state: state.value } : {})
    })
  })
).pipe(Command.withDescription("Change the kinds or the state of an endpoint"))

const simple = (word: "remove" | "rotate" | "test", description: string) =>
  Command.make(
    word,
    { ...dataFlags, endpoint: endpointArgument, json: jsonFlag },
    Effect.fn(`notices.${word}`)(function* ({ endpoint, config, json, ...flags }) {
      yield* changing(yield* settingsOf(flags, config), json, { word, id: endpoint })
    })
  ).pipe(Command.withDescription(description))

const deliveriesCommand = Command.make(
  "deliveries",
  {
    ...dataFlags,
    status: Flag.optional(
      Flag.Literals("status", NoticeDeliveryStatus.literals).pipe(
        Flag.withDescription("Only deliveries with this status")
      )
    ),
    endpoint: endpointArgument,
    json: jsonFlag
  },
  Effect.fn("notices.deliveries")(function* ({ config, endpoint, json, status, ...flags }) {
    const request = { id: endpoint, ...(Option.isSome(status) ? { status: status.value } : {}) }
    const deliveries = yield* withNotices(yield* settingsOf(flags, config), (notices) => notices.deliveries(request))
    yield* print(json, { deliveries }, deliveries.map(deliveryLine).join("\n"))
  })
).pipe(Command.withDescription("List the newest deliveries to an endpoint"))

const replayCommand = Command.make(
  "replay",
  {
    ...dataFlags,
    endpoint: endpointArgument,
    delivery: Argument.String("delivery").pipe(
      Argument.withSchema(NoticeDeliveryId),
      Argument.withDescription("ndl_...")
    ),
    json: jsonFlag
  },
  Effect.fn("notices.replay")(function* ({ delivery, endpoint, config, json, ...flags }) {
    yield* changing(yield* settingsOf(flags, config), json, { word: "replay", id: endpoint, deliveryId: delivery })
  })
).pipe(Command.withDescription("Send a delivery again"))

/** The server's own notice endpoints, which receive the notices of every Workspace. */
export const noticesCommand = Command.make("notices").pipe(
  Command.withDescription("Endpoints that receive the notices of every Workspace and of the server itself"),
  Command.withSubcommands([
    listCommand,
    addCommand,
    setCommand,
    simple("remove", "Remove an endpoint with its deliveries"),
    simple("rotate", "Create a new secret; the previous secret stays valid for a day"),
    simple("test", "Send a test"),
    deliveriesCommand,
    replayCommand
  ])
)
