import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Capsule } from "../../../schema/records/Capsule.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { exitCodes } from "../ExitCodes.ts"
import { CommandFailed, misuse, print, printLine } from "../Output.ts"
import { variableFlags, variablePatch } from "../variables/VariableFlags.ts"
import { capsuleArgument } from "./CapsuleArgument.ts"
import {
  capsuleAutoUpdateCommand,
  capsuleDisableCommand,
  capsuleEnableCommand,
  capsuleReleaseCommand,
  capsuleRenameCommand
} from "./CapsuleChangeCommands.ts"
import { capsuleBackupCommand } from "./WorkspaceBackupCommands.ts"
import { allPages } from "./Pages.ts"
import { planFlags, planned } from "./PlanCommands.ts"
import { onServer, Remote } from "./Remote.ts"
import { idempotencyKeyFlag, keyHeaders, workspaceFlags } from "./RemoteFlags.ts"
import { factsText, rowsText, shortCommit, timeText } from "./Rows.ts"
import { capsuleNamed, capsulesOf, stateVersionsOf, workspaceNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const isOver = ({ status }: Capsule) => status === "destroyed" || status === "released"

const statusText = (capsule: Capsule) =>
  [
    capsule.status,
    ...(capsule.driftStatus === "drifted" ? ["drifted"] : []),
    ...(capsule.runtimeSafety === "unknown" ? ["safety unknown"] : []),
    ...(capsule.waitsForCredential === undefined ? [] : ["waits for a credential"])
  ].join(", ")

const listCommand = Command.make(
  "list",
  {
    ...workspaceFlags,
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("Include destroyed and released Capsules"),
      Flag.withDefault(false)
    )
  },
  Effect.fn("capsule list")((given) =>
    Effect.gen(function* () {
      const workspace = yield* workspaceNamed(given.workspace)
      const capsules = (yield* capsulesOf(workspace.id)).filter((capsule) => given.all || !isOver(capsule))
      yield* print(
        given.json,
        { capsules },
        capsules.length === 0
          ? `${workspace.handle} has no Capsule. Install one with \`svc install\`.`
          : rowsText(
              ["name", "environment", "status", "commit", "id"],
              capsules.map((capsule) => [
                terminalText(capsule.name),
                capsule.environment,
                statusText(capsule),
                shortCommit(capsule.adoptedSourceRevision?.resolvedCommit) ?? "",
                capsule.id
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the Capsules of a Workspace"), Command.withAlias("ls"))

const getCommand = Command.make(
  "get",
  { ...workspaceFlags, capsule: capsuleArgument },
  Effect.fn("capsule get")((given) =>
    Effect.gen(function* () {
      const capsule = yield* capsuleNamed(given.capsule, given.workspace)
      const { adoptedCommitDescription: about, adoptedSourceRevision: revision } = capsule
      yield* print(
        given.json,
        { capsule },
        factsText([
          ["name", `${terminalText(capsule.name)}/${capsule.environment}`],
          ["id", capsule.id],
          ["status", statusText(capsule)],
          ["module", capsule.modulePath],
          [
            "commit",
            revision === undefined
              ? undefined
              : `${shortCommit(revision.resolvedCommit)} ${terminalText(about?.title ?? "")}`
          ],
          ["follows", revision?.ref],
          ["state", capsule.currentStateVersionId],
          ["generation", String(capsule.currentStateGeneration)],
          ["drift checked", timeText(capsule.driftCheckedAt)],
          ["endpoint", capsule.publicEndpoint],
          ["credential", capsule.waitsForCredential?.next]
        ])
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Show a Capsule"))

const valueText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

const outputsCommand = Command.make(
  "outputs",
  {
    ...workspaceFlags,
    raw: Flag.Boolean("raw").pipe(
      Flag.withDescription("Print the value of one Output without quotes, for scripts"),
      Flag.withDefault(false)
    ),
    capsule: capsuleArgument,
    name: Argument.optional(Argument.String("name").pipe(Argument.withDescription("Only this Output")))
  },
  Effect.fn("capsule outputs")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const capsule = yield* capsuleNamed(given.capsule, given.workspace)
      const { outputs } = yield* client.capsules.outputs({ params: { capsuleId: capsule.id } })
      if (Option.isNone(given.name)) {
        if (given.raw)
          return yield* new CommandFailed({ ...misuse, message: "--raw prints one value. Name the Output." })
        return yield* print(
          given.json,
          { outputs },
          outputs.length === 0
            ? "There is no public Output. Sensitive ones stay on the server."
            : factsText(outputs.map(({ name, value }) => [name, terminalText(valueText(value) ?? "")]))
        )
      }
      const named = given.name.value
      const output = outputs.find(({ name }) => name === named)
      if (output === undefined) {
        return yield* new CommandFailed({
          code: "not_found",
          exitCode: exitCodes.notFound,
          message: `${capsule.name} has no public Output ${named}. ${outputs.length === 0 ? "It has no public Outputs." : `It has ${outputs.map(({ name }) => name).join(", ")}.`}`
        })
      }
      yield* given.json
        ? print(true, output, "")
        : printLine(given.raw ? (valueText(output.value) ?? "") : terminalText(valueText(output.value) ?? ""))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Show the public Outputs of a Capsule"),
  Command.withExamples([
    { command: "svc capsule outputs network", description: "All Outputs" },
    { command: "svc capsule outputs network greeting --raw", description: "One value, for a script" }
  ])
)

const resourcesCommand = Command.make(
  "resources",
  {
    ...workspaceFlags,
    search: Flag.optional(
      Flag.String("search").pipe(Flag.withDescription("Only resources whose address, type or id contains this text"))
    ),
    capsule: capsuleArgument
  },
  Effect.fn("capsule resources")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { id, name } = yield* capsuleNamed(given.capsule, given.workspace)
      const search = Option.match(given.search, { onNone: () => ({}), onSome: (text) => ({ search: text }) })
      const resources = yield* allPages((query) =>
        Effect.map(
          client.stateResources.list({ params: { capsuleId: id }, query: { ...query, ...search } }),
          ({ nextCursor, resources: items }) => ({ items, nextCursor })
        )
      )
      yield* print(
        given.json,
        { resources },
        resources.length === 0
          ? `${name} has no such resource.`
          : rowsText(
              ["address", "id", "changed", "run"],
              resources.map((one) => [
                terminalText(one.address),
                terminalText(one.id ?? ""),
                timeText(one.changedAt) ?? "",
                one.changedByRunId
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the resources that a Capsule manages"))

const statesCommand = Command.make(
  "states",
  { ...workspaceFlags, capsule: capsuleArgument },
  Effect.fn("capsule states")((given) =>
    Effect.gen(function* () {
      const { currentStateVersionId, id, name } = yield* capsuleNamed(given.capsule, given.workspace)
      const stateVersions = yield* stateVersionsOf(id)
      yield* print(
        given.json,
        { stateVersions },
        stateVersions.length === 0
          ? `${name} was never applied, so it has no state.`
          : rowsText(
              ["", "generation", "resources", "made", "run", "id"],
              stateVersions.map((one) => [
                one.id === currentStateVersionId ? "*" : "",
                String(one.generation),
                String(one.resourceCount),
                timeText(one.createdAt) ?? "",
                one.createdByRunId,
                one.id
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the stored states of a Capsule; * marks the current state"))

const configurationOf = Effect.fnUntraced(function* (capsuleConfigId: string) {
  const { capsules } = yield* SvcClient
  return (yield* capsules.config({ params: { capsuleConfigId } })).capsuleConfig
})

const setCommand = Command.make(
  "set",
  {
    ...planFlags,
    ...variableFlags,
    idempotencyKey: idempotencyKeyFlag,
    guard: Flag.optional(
      Flag.String("guard").pipe(
        Flag.withDescription(
          "Guard of the configuration that you read, from `svc capsule get --json`; required to repeat a command with a key. Default: read now"
        ),
        Flag.withMetavar("guard")
      )
    ),
    capsule: capsuleArgument
  },
  Effect.fn("capsule set")((given) =>
    Effect.gen(function* () {
      const { capsules } = yield* SvcClient
      const capsule = yield* capsuleNamed(given.capsule, given.workspace)
      const { variables: declared } = yield* configurationOf(capsule.installConfigId)
      const patch = yield* variablePatch(given, declared)
      const headers = yield* keyHeaders(given.idempotencyKey)
      const { run } = yield* capsules.configurationPlan({
        params: { capsuleId: capsule.id },
        headers,
        payload: {
          variablePatch: patch,
          // Makes the server refuse the change if somebody else has changed the configuration since it was read.
          expected: {
            authorityGuard: Option.getOrElse(given.guard, () => capsule.installConfigReAdoption.authorityGuard)
          }
        }
      })
      yield* planned(run, given)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Change the inputs of a Capsule, and create a plan for approval"),
  Command.withExamples([
    { command: "svc capsule set network --var region=south", description: "One value" },
    {
      command: "svc capsule set network --var-file values.tfvars",
      description: "Values from a file, in the tool's syntax"
    },
    {
      command: "svc capsule set network --var region=- < region.txt",
      description: "A value that no other user of the machine can see"
    },
    { command: "svc capsule set network --unset suffix", description: "Use the module's default again" }
  ])
)

const variablesCommand = Command.make(
  "variables",
  { ...workspaceFlags, capsule: capsuleArgument },
  Effect.fn("capsule variables")((given) =>
    Effect.gen(function* () {
      const { installConfigId, name } = yield* capsuleNamed(given.capsule, given.workspace)
      const { variables } = yield* configurationOf(installConfigId)
      yield* print(
        given.json,
        { variables },
        variables.length === 0
          ? `The module of ${terminalText(name)} declares no variable.`
          : rowsText(
              ["name", "type", "required", "set", "from", "notes"],
              variables.map((one) => [
                terminalText(one.name),
                terminalText(one.typeExpression ?? one.type),
                one.required ? "yes" : "no",
                one.set ? "yes" : "no",
                one.origin.replaceAll("_", " "),
                one.sensitive ? "sensitive" : ""
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the inputs of a Capsule and the source of each value; values are never shown"),
  Command.withExamples([{ command: "svc capsule variables network", description: "The names for `svc capsule set`" }])
)

const openCommand = Command.make(
  "open",
  { ...workspaceFlags, capsule: capsuleArgument },
  Effect.fn("capsule open")((given) =>
    Effect.gen(function* () {
      const { origin } = yield* Remote
      const capsule = yield* capsuleNamed(given.capsule, given.workspace)
      const client = yield* SvcClient
      const { workspace } = yield* client.workspaces.read({ params: { workspaceId: capsule.workspaceId } })
      const url = `${origin}/w/${workspace.handle}/capsules/${capsule.id}`
      yield* print(given.json, { url }, url)
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Print the address of a Capsule in the dashboard"))

export const capsuleCommand = Command.make("capsule").pipe(
  Command.withDescription("Capsules, their Outputs and their resources"),
  Command.withSubcommands([
    listCommand,
    getCommand,
    outputsCommand,
    resourcesCommand,
    statesCommand,
    variablesCommand,
    setCommand,
    capsuleRenameCommand,
    capsuleAutoUpdateCommand,
    capsuleDisableCommand,
    capsuleEnableCommand,
    capsuleReleaseCommand,
    capsuleBackupCommand,
    openCommand
  ])
)
