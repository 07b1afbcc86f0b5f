import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag, TerminalCapabilities } from "effect/cli"
import { openBrowser } from "../remote/Browser.ts"
import { exitCodes } from "../ExitCodes.ts"
import { CommandFailed, jsonFlag, misuse, print } from "../Output.ts"
import { formatFlag } from "../OutputFormat.ts"
import { type DevicePrompt, logIn, logOut, serverOrigin } from "./DeviceLogin.ts"
import { StoredLogins } from "./StoredLogins.ts"

const serverArgument = Argument.String("server").pipe(
  Argument.withDescription("Origin of the server, e.g. https://svc.example.com")
)

/** Returns the given server or, if none is given, the only server with a stored login. */
const chosen = Effect.fnUntraced(function* (server: Option.Option<string>) {
  if (Option.isSome(server)) return yield* serverOrigin(server.value)
  const logins = yield* StoredLogins
  const [only, ...others] = yield* logins.origins
  if (only !== undefined && others.length === 0) return only
  return yield* new CommandFailed({
    ...(only === undefined ? { code: "unauthenticated", exitCode: exitCodes.forbidden } : misuse),
    message:
      only === undefined ? "There is no login. Run `svc login SERVER`." : "There are several logins. Name the server."
  })
})

const invite =
  (json: boolean) =>
  ({ address, code, expiresInSeconds }: DevicePrompt) =>
    // Print the instructions to standard error, because scripts read the result from standard output.
    Console.error(
      json
        ? JSON.stringify({ address, code, expiresInSeconds })
        : `Open ${address}\nand check that it shows the code ${code}. Waiting for ${Math.floor(expiresInSeconds / 60)} minutes ...`
    )

export const loginCommand = Command.make(
  "login",
  {
    server: serverArgument,
    json: jsonFlag,
    format: formatFlag,
    browser: Flag.Boolean("browser").pipe(
      Flag.withDescription("Open the page in your browser; --no-browser only prints its address"),
      Flag.withDefault(true)
    )
  },
  Effect.fn("login")(function* ({ browser, json, server }) {
    const origin = yield* serverOrigin(server)
    // Fail before the login if the result could not be stored. Otherwise a valid token would be lost.
    yield* (yield* StoredLogins).storable
    const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
    // Open a browser only at a terminal, because a script has no user.
    yield* logIn(origin, (prompt) =>
      Effect.andThen(
        invite(json)(prompt),
        browser && canPrompt && !json ? Effect.asVoid(openBrowser(prompt.address)) : Effect.void
      )
    )
    yield* print(json, { server: origin, loggedIn: true }, `Logged in at ${origin}.`)
  }, Effect.provide(StoredLogins.layer))
).pipe(
  Command.withDescription("Log in to a server with a browser; the login is stored in a file that only you can read")
)

export const logoutCommand = Command.make(
  "logout",
  { server: Argument.optional(serverArgument), json: jsonFlag, format: formatFlag },
  Effect.fn("logout")(function* ({ json, server }) {
    const origin = yield* chosen(server)
    yield* logOut(origin)
    yield* print(json, { server: origin, loggedIn: false }, `Logged out at ${origin}.`)
  }, Effect.provide(StoredLogins.layer))
).pipe(Command.withDescription("Log out, on the server and on this machine"))
