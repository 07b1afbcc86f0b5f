import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { jsonFlag } from "../Output.ts"
import { durationFlag } from "../ValueFlags.ts"
import { formatFlag } from "../OutputFormat.ts"

const named = (name: string, description: string, metavar: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar)))

/** Flags of every command that calls a server. */
export const serverFlags = {
  server: named("server", "Origin of the server; else SVC_URL, the context, or the only login", "origin"),
  context: named("context", "A context of `svc context list`; else SVC_CONTEXT, or the current one", "name"),
  json: jsonFlag,
  format: formatFlag,
  quiet: Flag.Boolean("quiet").pipe(
    Flag.withAlias("q"),
    Flag.withDescription("No progress on standard error"),
    Flag.withDefault(false)
  )
}

/** Like `serverFlags`, for a command that works in a Workspace. */
export const workspaceFlags = {
  ...serverFlags,
  workspace: named(
    "workspace",
    "Handle or id of the Workspace; else SVC_WORKSPACE, that of the context, or the only one",
    "handle"
  )
}

export const idempotencyKeyFlag = named(
  "idempotency-key",
  "The same key makes a repetition of this command answer what the first one made",
  "key"
)

/** Creates the idempotency header of a write, with the given key or a new one. */
export const keyHeaders = (key: Option.Option<string>) =>
  Effect.sync(() => ({ "idempotency-key": Option.getOrElse(key, () => crypto.randomUUID()) }))

/** Returns the maximum time to wait. Without the flag, there is no limit. */
export const waitTimeoutFlag = Flag.optional(
  durationFlag("wait-timeout").pipe(
    Flag.withDescription("Give up waiting after this long, such as 30m, with exit code 7; the Run goes on")
  )
)
