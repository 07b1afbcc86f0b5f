import { Effect, Schema } from "effect"
import { HttpClient } from "effect/http"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { apiVersion } from "../../../schema/records/Discovery.ts"
import { exitCodes } from "../ExitCodes.ts"
import { RemoteFailed } from "./RemoteFailed.ts"

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
export const explainedOf =
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
