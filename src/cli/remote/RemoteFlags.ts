import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { jsonFlag } from "../Output.ts"
import { durationFlag } from "../ValueFlags.ts"
import { formatFlag } from "../OutputFormat.ts"

const named = (name: string, description: string, metavar: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar)))

/** Flags of every command that calls a server. */
export const serverFlags = {
  server: named("server", "Origin of the server; default: SVC_URL, the context, or the only login", "origin"),
  context: named("context", "A context from `svc context list`; default: SVC_CONTEXT, or the current context", "name"),
  json: jsonFlag,
  format: formatFlag,
  quiet: Flag.Boolean("quiet").pipe(
    Flag.withAlias("q"),
    Flag.withDescription("Print no progress to standard error"),
    Flag.withDefault(false)
  )
}

/** Like `serverFlags`, for a command that works in a Workspace. */
export const workspaceFlags = {
  ...serverFlags,
  workspace: named(
    "workspace",
    "Handle or id of the Workspace; default: SVC_WORKSPACE, the context's Workspace, or your only Workspace",
    "handle"
  )
}

export const idempotencyKeyFlag = named(
  "idempotency-key",
  "Repeating the command with the same key returns the first result",
  "key"
)

/** Creates the idempotency header of a write, with the given key or a new one. */
export const keyHeaders = (key: Option.Option<string>) =>
  Effect.sync(() => ({ "idempotency-key": Option.getOrElse(key, () => crypto.randomUUID()) }))

/** Returns the maximum time to wait. If the flag is absent, there is no limit. */
export const waitTimeoutFlag = Flag.optional(
  durationFlag("wait-timeout").pipe(
    Flag.withDescription("Stop waiting after this time, such as 30m, with exit code 7; the Run continues")
  )
)
