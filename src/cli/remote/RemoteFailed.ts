import { Effect, Runtime, Schema } from "effect"
import { HttpClientError } from "effect/http"
import { exitCodeOfStatus, exitCodes } from "../ExitCodes.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"

/** Error if a server refused the command or could not be reached. */
export class RemoteFailed extends Schema.TaggedError<RemoteFailed>()("RemoteFailed", {
  code: Schema.String,
  message: Schema.String,
  exitCode: Schema.Literals(Object.values(exitCodes))
}) {
  override get [Runtime.errorExitCode](): number {
    return this.exitCode
  }
}

const signIn: ReadonlySet<string> = new Set(["unauthenticated", "invalid_token"])

/** Error envelope, for requests that do not use the typed client. */
export const RefusedAnswer = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String, requestId: Schema.optionalKey(Schema.String) })
})

/** A server's response to a request that it refuses. */
export interface Refused {
  readonly code: string
  readonly message: string
  readonly requestId?: string | undefined
  /** Of HTTP. */
  readonly status: number
}

export const refusal = (origin: string, { code, message, requestId, status }: Refused) =>
  new RemoteFailed({
    code,
    exitCode: exitCodeOfStatus(status),
    message: [
      message,
      ...(signIn.has(code) ? [`Log in with \`svc login ${origin}\`, or give a valid token in SVC_TOKEN.`] : []),
      ...(code === "insufficient_scope" ? ["Use a token with that scope, or log in with `svc login`."] : []),
      ...(status >= 500 && requestId !== undefined ? [`Request ${requestId}.`] : [])
    ].join(" ")
  })

const unreachable = (origin: string, error: HttpClientError.HttpClientError) =>
  error.response === undefined
    ? new RemoteFailed({
        code: "unreachable",
        exitCode: exitCodes.unreachable,
        message: `${origin} cannot be reached. Check the address, and whether the server runs.`
      })
    : new RemoteFailed({
        code: "unexpected_answer",
        exitCode: exitCodes.failed,
        message: `${origin} answered ${error.response.status} in a form that this release does not know. Is it an svc server?`
      })

const incomprehensible = (origin: string) =>
  new RemoteFailed({
    code: "unexpected_answer",
    exitCode: exitCodes.failed,
    message: `${origin} answered in a form that this release does not know. Compare its version with \`svc version\`.`
  })

/** Translates every failure of the client into a message and an exit code for the command line. */
export const inWords =
  (origin: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.mapError(effect, (error) => {
      if (error instanceof ApiError) return refusal(origin, error)
      if (HttpClientError.isHttpClientError(error)) return unreachable(origin, error)
      if (Schema.isSchemaError(error)) return incomprehensible(origin)
      return error
    })
