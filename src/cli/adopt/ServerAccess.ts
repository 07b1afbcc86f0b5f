import { Config, Effect, Option, type Redacted } from "effect"
import { clientEnv } from "../../settings/SettingDefinitions.ts"
import { CommandFailed } from "../Output.ts"
import { currentToken, serverOrigin } from "../login/DeviceLogin.ts"
import { StoredLogins } from "../login/StoredLogins.ts"

/** The origin of a server, with a token for it. */
export interface ServerAccess {
  readonly origin: string
  readonly token: Redacted.Redacted
}

const unnamed = new CommandFailed({
  message: "No server is named. Give --server or SVC_URL, or log in at one with `svc login`."
})

/** The named server, that of `SVC_URL`, or the only one with a login; with the token of `SVC_TOKEN` or of the login. */
export const serverAccess = Effect.fn("serverAccess")(function* (named: Option.Option<string>) {
  const fromEnvironment = yield* Config.option(Config.String(clientEnv.url))
  const given = Option.orElse(named, () => fromEnvironment)
  const logins = yield* StoredLogins
  const [only, ...others] = yield* logins.origins
  const origin = Option.isSome(given)
    ? yield* serverOrigin(given.value)
    : only !== undefined && others.length === 0
      ? only
      : yield* unnamed
  const token = yield* Config.option(Config.Redacted(clientEnv.token))
  return {
    origin,
    token: Option.isSome(token) ? token.value : yield* currentToken(origin)
  } satisfies ServerAccess
})
