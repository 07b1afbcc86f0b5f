import { Effect, Option, Result, Schedule, Schema } from "effect"
import { Flag } from "effect/cli"
import { CreateInstallPlan } from "../../../schema/api/InstallPlansApi.ts"
import type { InstallPlan } from "../../../schema/records/InstallPlan.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, misuse } from "../Output.ts"
import { patiently, waitAtMost } from "../remote/Patience.ts"
import { typedValue } from "../variables/TypedValue.ts"
import { valuesOfFile } from "../variables/VariableFlags.ts"
import { connectionNamed } from "../remote/Selection.ts"
import { anyNumber } from "../ValueFlags.ts"

const decodeRequest = Schema.decodeUnknownEffect(CreateInstallPlan)

const text = (name: string, description: string, metavar = "text") =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar))

/**
 * Flags for the module and the Capsule to install. Values are never passed as arguments, because other users of the machine
 * can read arguments.
 */
export const installFlags = {
  ref: text("ref", "Branch, tag or commit; default: HEAD", "ref").pipe(Flag.withDefault("HEAD")),
  module: text("module", "Path of the module in the repository; default: . for the root", "path").pipe(
    Flag.withDefault(".")
  ),
  name: text("name", "Name of the new Capsule"),
  environment: text("environment", "Environment; default: production", "name").pipe(Flag.withDefault("production")),
  variables: Flag.optional(
    text(
      "var-file",
      "File with the values of the module's variables, in the syntax of .tfvars or as one JSON object; - for standard input",
      "path"
    )
  ),
  connections: text(
    "connection",
    "A provider and its Connection, such as hashicorp/aws=conn_...; may be repeated",
    "provider=id"
  ).pipe(anyNumber),
  gitConnection: Flag.optional(
    text("git-connection", "Git Connection that reads the repository, by name or id", "name")
  )
}

export interface InstallFlags {
  readonly ref: string
  readonly module: string
  readonly name: string
  readonly environment: string
  readonly variables: Option.Option<string>
  readonly connections: ReadonlyArray<string>
}

/** Reads the values from a file without converting them, because the types of the module's variables are not known yet. */
const valuesOf = Effect.fnUntraced(function* (file: string) {
  const values = Result.all(
    [...(yield* valuesOfFile(file))].map(([name, value]) =>
      Result.mapBoth(typedValue(value, "json"), {
        onFailure: (why) => new CommandFailed({ ...misuse, message: `--var-file: ${name}: ${why}.` }),
        onSuccess: (json) => [name, json] as const
      })
    )
  )
  return Object.fromEntries(yield* Effect.fromResult(values))
})

/**
 * Matches `provider=connection`, or `provider:local.alias=connection` if the module uses a different name for the provider, such
 * as `hashicorp/aws:main.east=conn_...`.
 */
const shape = /^([^=:]+)(?::([A-Za-z0-9_-]+)(?:\.([A-Za-z0-9_-]+))?)?=(conn_[a-z0-9]+)$/

/** Parses the bindings of an install from its flags. */
const connectionsOf = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  return yield* Effect.forEach(given, (text) => {
    const [, provider, localName, childAlias, connectionId] = shape.exec(text) ?? []
    if (provider === undefined || connectionId === undefined) {
      return new CommandFailed({
        ...misuse,
        message: `--connection ${text}: expected PROVIDER=CONNECTION, such as hashicorp/aws=conn_..., or PROVIDER:NAME.ALIAS=CONNECTION.`
      })
    }
    return Effect.succeed({
      provider,
      moduleLocalName: localName ?? provider.split("/").at(-1) ?? provider,
      connectionId,
      ...(childAlias === undefined ? {} : { childAlias })
    })
  })
})

/** Builds the request from the flags. */
export const installRequest = Effect.fn("installRequest")(function* (url: string, given: InstallFlags) {
  const variables = Option.isNone(given.variables) ? {} : yield* valuesOf(given.variables.value)
  const providerBindings = yield* connectionsOf(given.connections)
  return yield* decodeRequest({
    source: { name: given.name, url, ref: given.ref },
    capsule: { name: given.name, environment: given.environment },
    options: { modulePath: given.module, providerBindings },
    variables
  }).pipe(
    Effect.mapError(({ message }) => new CommandFailed({ ...misuse, message: `The request is not valid: ${message}` }))
  )
})

/** Adds the Connection that reads the repository to the request. */
export const withGitConnection = Effect.fn("withGitConnection")(function* (
  request: CreateInstallPlan,
  { gitConnection, workspace }: Readonly<Record<"gitConnection" | "workspace", Option.Option<string>>>
) {
  if (Option.isNone(gitConnection)) return request
  const { id } = yield* connectionNamed(gitConnection.value, workspace)
  return { ...request, source: { ...request.source, authConnectionId: id } }
})

const pollEvery = Schedule.spaced("500 millis")

/** Waits until the install has a plan. If the install ends without a plan, fails with the reasons. */
export const plannedInstall = Effect.fn("plannedInstall")(function* (
  created: InstallPlan,
  stopped: string,
  timeout: Option.Option<number>
) {
  const client = yield* SvcClient
  const read = patiently(client.installPlans.read({ params: { installPlanId: created.id } }))
  const { installPlan } = yield* Effect.repeat(read, {
    until: (answer) => answer.installPlan.nextAction !== "reconcile",
    schedule: pollEvery
  }).pipe(waitAtMost(timeout, "The install", "svc run list"))
  const { capsuleId, diagnostics, planRunId } = installPlan
  if (planRunId !== undefined && capsuleId !== undefined) return { capsuleId, planRunId }
  const reasons = diagnostics.map(({ code, message }) => `  ${message} [${code}]`)
  const next = diagnostics.some(({ code }) => code === "input_required") ? ["Give the values with --var-file."] : []
  return yield* new CommandFailed({ message: [stopped, ...reasons, ...next].join("\n") })
})
