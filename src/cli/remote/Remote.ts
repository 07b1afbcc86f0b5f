import { Config, Context, Effect, Layer, Option, Redacted, Schema, Semaphore } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { apiVersion } from "../../../schema/records/Discovery.ts"
import { clientEnv } from "../../settings/ClientSettings.ts"
import { makeClient, SvcClient } from "../../client/SvcClient.ts"
import { type StoredContext, StoredContexts } from "../context/StoredContexts.ts"
import { tokenInput } from "../TokenInput.ts"
import { currentToken, serverOrigin } from "../login/DeviceLogin.ts"
import { StoredLogins } from "../login/StoredLogins.ts"
import { exitCodes } from "../ExitCodes.ts"
import { CommandFailed, misuse } from "../Output.ts"
import { Quiet } from "./Progress.ts"
import { inWords, RemoteFailed } from "./RemoteFailed.ts"

/** The server of a command, and the Workspace selected by the settings. */
export class Remote extends Context.Service<
  Remote,
  {
    readonly origin: string
    /** The access token at the start of the command. For a long command, use `client`, which renews the token. */
    readonly token: Redacted.Redacted
    /** HTTP client that authenticates requests to the server for as long as the login is valid. */
    readonly client: HttpClient.HttpClient
    /** Handle or id of the Workspace that is used unless a command selects another one. */
    readonly workspace: Option.Option<string>
  }
>()("svc/src/cli/remote/Remote") {}

const unnamed = (logins: number) =>
  new CommandFailed({
    ...(logins === 0 ? { code: "unauthenticated", exitCode: exitCodes.forbidden } : misuse),
    message: `${logins === 0 ? "There is no login" : "There are several logins"}, and no server is named. Give --server or SVC_URL, set a context, or log in at one with \`svc login\`.`
  })

export interface Named {
  readonly server: Option.Option<string>
  readonly context: Option.Option<string>
  readonly quiet: boolean
}

/** Finds the context selected by the flag, the variable or the settings, if any. */
const chosenContext = Effect.fnUntraced(function* (named: Option.Option<string>) {
  const contexts = yield* StoredContexts
  const { current } = yield* contexts.known
  const fromEnvironment = yield* Config.option(Config.String(clientEnv.context))
  const name = named.pipe(
    Option.orElse(() => fromEnvironment),
    Option.orElse(() => Option.fromUndefinedOr(current))
  )
  if (Option.isNone(name)) return Option.none<StoredContext>()
  const found = yield* contexts.find(name.value)
  if (Option.isSome(found)) return found
  return yield* new CommandFailed({
    code: "not_found",
    exitCode: exitCodes.notFound,
    message: `There is no context ${name.value}. List them with \`svc context list\`, or set it with \`svc context set\`.`
  })
})

const unchanging = (token: Redacted.Redacted) => Effect.succeed(Effect.succeed(token))

/**
 * Returns the login's access token. It is read anew for each request, because a token is valid for minutes but a command may
 * wait for hours. If renewal fails, sends the old token, so that the server refuses it with the reason.
 */
const renewed = Effect.fnUntraced(function* (origin: string) {
  const logins = yield* StoredLogins
  const current = Effect.provideService(currentToken(origin), StoredLogins, logins)
  let last: Redacted.Redacted = yield* current
  // Never renew concurrently, because a refresh token can be used only once.
  const oneAtATime = yield* Semaphore.make(1)
  return Effect.tap(current, (token) =>
    Effect.sync(() => {
      last = token
    })
  ).pipe(
    Effect.catch(() => Effect.sync(() => last)),
    oneAtATime.withPermits(1)
  )
})

const chosen = Effect.fn("Remote.chosen")(function* ({ context, server }: Pick<Named, "context" | "server">) {
  const fromEnvironment = yield* Config.option(Config.String(clientEnv.url))
  const given = Option.orElse(server, () => fromEnvironment)
  const stored = yield* chosenContext(context)
  const [only, ...others] = yield* (yield* StoredLogins).origins
  const origin = Option.isSome(given)
    ? yield* serverOrigin(given.value)
    : Option.isSome(stored)
      ? yield* serverOrigin(stored.value.server)
      : only !== undefined && others.length === 0
        ? only
        : yield* unnamed(only === undefined ? 0 : others.length + 1)
  const token = yield* Config.option(Config.Redacted(clientEnv.token))
  const workspace = yield* Config.option(Config.String(clientEnv.workspace))
  const credential = Option.isSome(token)
    ? yield* unchanging(yield* tokenInput(clientEnv.token, Redacted.value(token.value)))
    : yield* renewed(origin)
  return Remote.of({
    origin,
    token: yield* credential,
    client: HttpClient.mapRequestEffect(yield* HttpClient.HttpClient, (request) =>
      Effect.map(credential, (current) => HttpClientRequest.bearerToken(request, current))
    ),
    // Ignore the context's Workspace if the command uses another server, because that Workspace exists only on the context's
    // server.
    workspace: Option.orElse(workspace, () =>
      Option.flatMap(stored, (value) =>
        value.server === origin ? Option.fromUndefinedOr(value.workspace) : Option.none()
      )
    )
  })
})

const remoteLayer = (named: Named) =>
  Layer.unwrap(
    Effect.map(chosen(named), (remote) =>
      Layer.merge(
        Layer.succeed(Remote, remote),
        Layer.effect(
          SvcClient,
          Effect.provideService(
            makeClient({ baseUrl: remote.origin, retries: true }),
            HttpClient.HttpClient,
            remote.client
          )
        )
      )
    )
  ).pipe(Layer.provide(Layer.mergeAll(StoredLogins.layer, StoredContexts.layer, FetchHttpClient.layer)))

const decodeVersions = Schema.decodeEffect(
  Schema.fromJsonString(Schema.Struct({ api_versions: Schema.Array(Schema.String) }))
)

/**
 * Lists the API versions that a server advertises. The list is empty if the server's response is not in the expected format.
 */
const versionsOf = Effect.fnUntraced(
  function* (origin: string) {
    const client = yield* HttpClient.HttpClient
    const response = yield* client.get(`${origin}/.well-known/svc`)
    return (yield* decodeVersions(yield* response.text)).api_versions
  },
  Effect.orElseSucceed((): ReadonlyArray<string> => [])
)

/**
 * Returns true if the response means that the server does not know the route. If a record were missing, the response would
 * contain the record's id.
 */
const isUnknownRoute = (error: unknown): boolean =>
  error instanceof ApiError && error.code === "not_found" && error.message.startsWith("There is no such route")

const isUnknownForm = (error: unknown): boolean => Schema.isSchemaError(error)

/**
 * Explains failures on a server with another API version, or on an older server without the command's route. Leaves every other
 * failure unchanged.
 */
const explainedOf =
  (origin: string) =>
  <A, E, R>(command: Effect.Effect<A, E, R>) =>
    Effect.catchIf(
      command,
      (error) => isUnknownRoute(error) || isUnknownForm(error),
      (error) =>
        Effect.gen(function* () {
          const versions = yield* versionsOf(origin)
          if (versions.length > 0 && !versions.includes(apiVersion)) {
            return yield* new RemoteFailed({
              code: "api_version_unknown",
              exitCode: exitCodes.failed,
              message: `${origin} speaks ${versions.join(", ")}, and this svc speaks ${apiVersion}. Use the svc of a release that speaks the same.`
            })
          }
          if (isUnknownRoute(error)) {
            return yield* new RemoteFailed({
              code: "capability_not_available",
              exitCode: exitCodes.failed,
              message: `${origin} has nothing that this command needs: it is of another release. ${origin}/openapi.json lists what it has.`
            })
          }
          return yield* Effect.fail(error)
        })
    )

/** Provides a command with its server, and describes refusals in terms of the command line. */
export const onServer =
  (named: Named) =>
  <A, E, R>(command: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const { origin } = yield* Remote
      return yield* command.pipe(explainedOf(origin), inWords(origin))
    }).pipe(Effect.provide(remoteLayer(named)), Effect.provideService(Quiet, named.quiet))
