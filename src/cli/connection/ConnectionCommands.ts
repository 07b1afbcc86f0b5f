import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CreateConnection, UpdateConnection } from "../../../schema/api/ConnectionsApi.ts"
import { type Connection, ConnectionKind } from "../../../schema/records/Connection.ts"
import { type ConnectionUse, UseRole } from "../../../schema/records/ConnectionUse.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, misuse, print } from "../Output.ts"
import { onServer } from "../remote/Remote.ts"
import { workspaceFlags } from "../remote/RemoteFlags.ts"
import { factsText, rowsText, timeText } from "../remote/Rows.ts"
import { connectionNamed, connectionsOf, nameTaken, projectNamed, workspaceNamed } from "../remote/Selection.ts"
import { terminalText } from "../remote/TerminalText.ts"
import { givenValues, valueFlags } from "./ConnectionValues.ts"
import { anyNumber, comingTimeFlag } from "../ValueFlags.ts"
import { agreed, yesFlag } from "../remote/Confirmation.ts"

const listCommand = Command.make(
  "list",
  workspaceFlags,
  Effect.fn("connection list")((given) =>
    Effect.gen(function* () {
      const workspace = yield* workspaceNamed(given.workspace)
      const connections = yield* connectionsOf(workspace.id)
      yield* print(
        given.json,
        { connections },
        connections.length === 0
          ? `${workspace.handle} has no Connection. Make one with \`svc connection create\`.`
          : rowsText(
              ["name", "provider", "status", "expires", "used", "id"],
              connections.map((one) => [
                terminalText(one.displayName),
                one.provider,
                one.status,
                timeText(one.expiresAt) ?? "never",
                timeText(one.lastUsedAt) ?? "never",
                one.id
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the Connections of a Workspace; values are never shown"), Command.withAlias("ls"))

const shown = (connection: Connection) =>
  factsText([
    ["name", terminalText(connection.displayName)],
    ["id", connection.id],
    ["provider", connection.provider],
    ["status", connection.status],
    ["variables", connection.envNames.join(", ")],
    ["files", connection.fileNames.join(", ")],
    ["provided by", connection.providedBy && `${connection.providedBy.pool}/${connection.providedBy.name}`],
    ["sent to", connection.origins?.join(", ")],
    ["used by", connection.use.roles.join(", ")],
    ["version", String(connection.version)],
    ["expires", timeText(connection.expiresAt)]
  ])

const connectionArgument = Argument.String("connection").pipe(
  Argument.withDescription("Name of the Connection, or its id")
)

const getCommand = Command.make(
  "get",
  { ...workspaceFlags, connection: connectionArgument },
  Effect.fn("connection get")((given) =>
    Effect.gen(function* () {
      const connection = yield* connectionNamed(given.connection, given.workspace)
      yield* print(given.json, { connection }, shown(connection))
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Show a Connection: the names of its variables and files, never their values"))

const text = (name: string, description: string, metavar: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar)))

const poolAndName = (given: string) => {
  const [pool = "", ...name] = given.split("/")
  return { pool, name: name.join("/") }
}

const part = "[A-Za-z0-9][A-Za-z0-9._-]*"
const host = `${part}(?::[0-9]+)?`
/** Matches a host, `namespace/type`, or `registry/namespace/type`. */
const providerForm = new RegExp(`^(?:${host}|${part}/${part}|${host}/${part}/${part})$`)

const decodeCreate = Schema.decodeUnknownEffect(CreateConnection)

const createCommand = Command.make(
  "create",
  {
    ...workspaceFlags,
    ...valueFlags,
    provider: Flag.String("provider").pipe(
      Flag.filter(
        (address) => providerForm.test(address),
        (address) =>
          `--provider ${JSON.stringify(address)}: expected the address of a provider such as hashicorp/aws, with its registry if it is another one, or the host of a Git server, or github, gitlab or forgejo`
      ),
      Flag.withDescription("A provider such as hashicorp/aws, the host of a Git server, or a kind of forge"),
      Flag.withMetavar("address")
    ),
    kind: Flag.optional(
      Flag.Literals("kind", ConnectionKind.literals).pipe(
        Flag.withDescription("Kind of the Connection; default: provider")
      )
    ),
    recipe: text("recipe", "Id of a recipe on the server; default: generic", "id"),
    mode: text("auth-mode", "An authentication mode of the recipe", "id"),
    origin: Flag.String("origin").pipe(
      Flag.withDescription("For Git: the only origin that receives it; may be repeated. For a forge: its website"),
      Flag.withMetavar("url"),
      anyNumber
    ),
    role: Flag.Literals("use-role", UseRole.literals).pipe(
      Flag.withDescription("Role that may use it in Runs; may be repeated; default: owners and admins"),
      anyNumber
    ),
    providedBy: text("provided-by", "The values stay on the agents of this pool, under this name", "pool/name"),
    expires: Flag.optional(
      comingTimeFlag("expires-at").pipe(Flag.withDescription("Expiry of its values: 30d, or a date such as 2027-01-31"))
    ),
    name: Argument.String("name").pipe(Argument.withDescription("Name of the new Connection"))
  },
  Effect.fn("connection create")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const held = yield* givenValues(given)
      const workspace = yield* workspaceNamed(given.workspace)
      const taken = (yield* connectionsOf(workspace.id)).find(
        ({ displayName, status }) => displayName === given.name && status !== "revoked"
      )
      if (taken !== undefined) return yield* nameTaken("a Connection", given.name, taken.id)
      const field = (name: string, value: Option.Option<string>) =>
        Option.match(value, { onNone: () => ({}), onSome: (some) => ({ [name]: some }) })
      const payload = yield* decodeCreate({
        workspaceId: workspace.id,
        provider: given.provider,
        displayName: given.name,
        ...held,
        ...field("kind", given.kind),
        ...field("recipeId", given.recipe),
        ...field("authMode", given.mode),
        ...field("expiresAt", given.expires),
        ...Option.match(given.providedBy, {
          onNone: () => ({}),
          onSome: (text) => ({ providedBy: poolAndName(text) })
        }),
        ...(given.origin.length === 0 ? {} : { origins: given.origin }),
        ...(given.role.length === 0 ? {} : { use: { roles: given.role } })
      }).pipe(
        // Replace the error's message, which may contain a value.
        Effect.mapError(
          () =>
            new CommandFailed({
              ...misuse,
              message: "The Connection is not valid: check the provider, the names and the time."
            })
        )
      )
      const { connection } = yield* connections.create({ payload })
      yield* print(given.json, { connection }, shown(connection))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Create a Connection; the server stores its values sealed and never shows them again"),
  Command.withExamples([
    {
      command:
        "svc connection create staging --provider hashicorp/aws --env AWS_ACCESS_KEY_ID --env AWS_SECRET_ACCESS_KEY",
      description: "With values of this environment"
    },
    {
      command: "svc connection create production --provider hashicorp/aws --provided-by eu-west/aws-production",
      description: "With values that only the agents of the pool eu-west have"
    },
    {
      command:
        "svc connection create forge --kind forge --provider gitlab --origin https://gitlab.com --values token.json",
      description: "For comments on merge requests"
    }
  ])
)

const rotateCommand = Command.make(
  "rotate",
  { ...workspaceFlags, ...valueFlags, connection: connectionArgument },
  Effect.fn("connection rotate")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const held = yield* givenValues(given)
      if (held.values === undefined && held.files === undefined) {
        return yield* new CommandFailed({
          ...misuse,
          message: "Nothing was changed: name the new values with --env, --values or --file."
        })
      }
      const { id } = yield* connectionNamed(given.connection, given.workspace)
      const { connection, supersededRunIds } = yield* connections.update({
        params: { connectionId: id },
        payload: held
      })
      yield* print(
        given.json,
        { connection, supersededRunIds },
        [
          `${terminalText(connection.displayName)} has new values, version ${connection.version}.`,
          ...(supersededRunIds.length === 0
            ? []
            : [`Plans made with the old ones are superseded: ${supersededRunIds.join(", ")}.`])
        ].join("\n")
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Give a Connection new values, which are tested first and replace all old values"),
  Command.withExamples([
    { command: "svc connection rotate staging --values credentials.json", description: "With the values of a file" }
  ])
)

const testedAs = {
  git_server: "The Git servers accept it.",
  forge: "The forge accepts it, and it can read the repository of every Source that names it.",
  completeness: "All of its values are there; only a Run tests more.",
  pool: "The operator lets the Workspace use it; the agents of the pool have the values."
} as const

const testCommand = Command.make(
  "test",
  { ...workspaceFlags, connection: connectionArgument },
  Effect.fn("connection test")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const { id } = yield* connectionNamed(given.connection, given.workspace)
      const { connection, tested } = yield* connections.test({ params: { connectionId: id }, payload: {} })
      yield* print(given.json, { connection, tested }, testedAs[tested])
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Test a Connection"))

const listed = (what: string, ids: ReadonlyArray<string>) => (ids.length === 0 ? [] : [`${what}: ${ids.join(", ")}.`])

const revokeCommand = Command.make(
  "revoke",
  { ...workspaceFlags, yes: yesFlag, connection: connectionArgument },
  Effect.fn("connection revoke")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const { displayName, id } = yield* connectionNamed(given.connection, given.workspace)
      const name = terminalText(displayName)
      yield* agreed(given, `No Run gets the values of ${name} any more, and that cannot be undone.`)
      const revoked = yield* connections.revoke({ params: { connectionId: id }, payload: {} })
      yield* print(
        given.json,
        revoked,
        [
          `${name} is revoked, and its values are deleted. If they leaked, revoke them at the provider too.`,
          ...listed("Plans that are void", revoked.supersededRunIds),
          ...listed("Runs that were asked to stop", revoked.cancelledRunIds),
          ...listed("Applies that continue with its values", revoked.runningApplyIds)
        ].join("\n")
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Revoke a Connection: its values are deleted and its users stop; cannot be undone"),
  Command.withExamples([{ command: "svc connection revoke staging --yes", description: "Without a terminal" }])
)

const deleteCommand = Command.make(
  "delete",
  { ...workspaceFlags, yes: yesFlag, connection: connectionArgument },
  Effect.fn("connection delete")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const { displayName, id } = yield* connectionNamed(given.connection, given.workspace)
      const name = terminalText(displayName)
      yield* agreed(given, `${name} and its values will be removed, and that cannot be undone.`)
      yield* connections.remove({ params: { connectionId: id } })
      yield* print(given.json, { deleted: id }, `${name} is removed.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Delete an unused Connection; cannot be undone"),
  Command.withAlias("rm"),
  Command.withExamples([{ command: "svc connection delete staging --yes", description: "Without a terminal" }])
)

const repeatedFlag = (name: string, description: string, metavar: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), anyNumber)

const openFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const useText = ({ modules, projectIds, refs, roles }: ConnectionUse) =>
  factsText([
    ["roles", roles.join(", ")],
    ["projects", projectIds?.join(", ") ?? "all"],
    [
      "modules",
      modules?.map(({ origin, path }) => terminalText(`${origin.replace(/\/$/, "")}//${path}`)).join(", ") ?? "all"
    ],
    ["refs", refs?.map(terminalText).join(", ") ?? "the lane of the Capsule and the default ref of its Source"]
  ])

const decodeUse = Schema.decodeUnknownEffect(Schema.Struct({ use: UpdateConnection.fields.use }))

/** Parses a module given as `origin//path`, such as `https://git.example.com/infra.git//network`. */
const moduleOf = (given: string) => {
  const at = given.lastIndexOf("//")
  return at > given.indexOf("://") + 1
    ? { origin: given.slice(0, at), path: given.slice(at + 2) }
    : { origin: given, path: "." }
}

const useCommand = Command.make(
  "use",
  {
    ...workspaceFlags,
    role: Flag.Literals("role", UseRole.literals).pipe(
      Flag.withDescription("Role that may use it in Runs, including higher roles; may be repeated"),
      anyNumber
    ),
    project: repeatedFlag("project", "Only for Capsules of this Project; may be repeated", "name"),
    anyProject: openFlag("any-project", "For Capsules of every Project"),
    module: repeatedFlag(
      "module",
      "Only for this module, such as https://git.example.com/infra.git//network; may be repeated",
      "url//path"
    ),
    anyModule: openFlag("any-module", "For every module"),
    ref: repeatedFlag("ref", "Only for plans of this ref; may be repeated", "ref"),
    reviewedRefs: openFlag("reviewed-refs", "For the Capsule's lane and its Source's default ref"),
    connection: connectionArgument
  },
  Effect.fn("connection use")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const before = yield* connectionNamed(given.connection, given.workspace)
      const projects = yield* Effect.forEach(given.project, (name) =>
        Effect.flatMap(workspaceNamed(given.workspace), ({ id }) => projectNamed(name, id))
      )
      const { modules, projectIds, refs, roles } = before.use
      const changed =
        given.role.length + projects.length + given.module.length + given.ref.length > 0 ||
        given.anyProject ||
        given.anyModule ||
        given.reviewedRefs
      if (!changed) return yield* print(given.json, { connection: before }, useText(before.use))
      const part = (
        key: string,
        isOpen: boolean,
        next: ReadonlyArray<unknown>,
        old: ReadonlyArray<unknown> | undefined
      ) => {
        const value = next.length > 0 ? next : isOpen ? undefined : old
        return value === undefined ? {} : { [key]: value }
      }
      const { use } = yield* decodeUse({
        use: {
          roles: given.role.length === 0 ? roles : given.role,
          ...part(
            "projectIds",
            given.anyProject,
            projects.map(({ id }) => id),
            projectIds
          ),
          ...part("modules", given.anyModule, given.module.map(moduleOf), modules),
          ...part("refs", given.reviewedRefs, given.ref, refs)
        }
      }).pipe(
        Effect.mapError(({ message }) => new CommandFailed({ ...misuse, message: `The rule is not valid: ${message}` }))
      )
      const { connection, supersededRunIds } = yield* connections.update({
        params: { connectionId: before.id },
        payload: use === undefined ? {} : { use }
      })
      yield* print(
        given.json,
        { connection, supersededRunIds },
        [
          useText(connection.use),
          ...(supersededRunIds.length === 0
            ? []
            : [`Plans outside the rule are superseded: ${supersededRunIds.join(", ")}.`])
        ].join("\n")
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Set who may use a Connection and for what, or show the rule; omitted flags change nothing"),
  Command.withExamples([
    { command: "svc connection use staging --role member", description: "Members may plan with it too" },
    { command: "svc connection use staging", description: "The current rule" }
  ])
)

export const connectionCommand = Command.make("connection").pipe(
  Command.withDescription("Credentials of providers and Git servers"),
  Command.withSubcommands([
    listCommand,
    getCommand,
    createCommand,
    rotateCommand,
    testCommand,
    useCommand,
    revokeCommand,
    deleteCommand
  ])
)
