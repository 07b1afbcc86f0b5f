import { Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { UpdateConnection } from "../../../schema/api/ConnectionsApi.ts"
import { type ConnectionUse, UseRole } from "../../../schema/records/ConnectionUse.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, misuse, print } from "../Output.ts"
import { onServer } from "../remote/Remote.ts"
import { anyNumber } from "../ValueFlags.ts"
import { workspaceFlags } from "../remote/RemoteFlags.ts"
import { factsText } from "../remote/Rows.ts"
import { connectionNamed, projectNamed, workspaceNamed } from "../remote/Selection.ts"
import { terminalText } from "../remote/TerminalText.ts"
import { connectionArgument } from "./ConnectionArgument.ts"

const several = (name: string, description: string, metavar: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), anyNumber)

const open = (name: string, description: string) =>
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

export const useCommand = Command.make(
  "use",
  {
    ...workspaceFlags,
    role: Flag.Literals("role", UseRole.literals).pipe(
      Flag.withDescription("Role that may use it in Runs, including higher roles; may be repeated"),
      anyNumber
    ),
    project: several("project", "Only for Capsules of this Project; may be repeated", "name"),
    anyProject: open("any-project", "For Capsules of every Project"),
    module: several(
      "module",
      "Only for this module, such as https://git.example.com/infra.git//network; may be repeated",
      "url//path"
    ),
    anyModule: open("any-module", "For every module"),
    ref: several("ref", "Only for plans of this ref; may be repeated", "ref"),
    reviewedRefs: open("reviewed-refs", "For the Capsule's lane and its Source's default ref"),
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
