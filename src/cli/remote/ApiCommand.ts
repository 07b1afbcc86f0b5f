import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { HttpClientRequest } from "effect/http"
import { repeatedWhereSafe } from "../../client/SafeRepeat.ts"
import { CommandFailed, misuse, printLine } from "../Output.ts"
import { inputText, refuseRoundedNumbers } from "./InputText.ts"
import { onServer, Remote } from "./Remote.ts"
import { refusal, RefusedAnswer } from "./RemoteFailed.ts"
import { idempotencyKeyFlag, keyHeaders, workspaceFlags } from "./RemoteFlags.ts"
import { workspaceNamed } from "./Selection.ts"

const methods = ["GET", "POST", "PATCH", "PUT", "DELETE"] as const
const placeholder = "{workspace}"

/** Returns the address of an API path. Refuses other origins, so that the token is sent only to the selected server. */
const addressOf = (origin: string, path: string) => {
  const whole = path.startsWith("/") ? path : `/api/v1/${path}`
  const url = URL.canParse(whole, origin) ? new URL(whole, origin) : undefined
  return url?.origin === origin
    ? Effect.succeed(url)
    : Effect.fail(
        new CommandFailed({
          ...misuse,
          message: `${path} is no path of ${origin}. Give one such as workspaces, or /api/v1/workspaces.`
        })
      )
}

const decodeJson = Schema.decodeEffect(Schema.fromJsonString(Schema.Json))

const inputOf = Effect.fn("inputOf")(function* (file: string) {
  const text = yield* inputText(file)
  yield* refuseRoundedNumbers(`--input ${file}`, text)
  return yield* decodeJson(text).pipe(
    Effect.mapError(() => new CommandFailed({ ...misuse, message: `--input ${file}: expected one JSON value.` }))
  )
})

const decodeRefusal = Schema.decodeEffect(Schema.fromJsonString(RefusedAnswer))

export const apiCommand = Command.make(
  "api",
  {
    ...workspaceFlags,
    idempotencyKey: idempotencyKeyFlag,
    input: Flag.optional(
      Flag.String("input").pipe(
        Flag.withDescription("File with the JSON body, - for standard input; default: {}"),
        Flag.withMetavar("path")
      )
    ),
    method: Argument.Literals("method", methods).pipe(Argument.withDescription("HTTP method")),
    path: Argument.String("path").pipe(
      Argument.withDescription(`Path, with or without /api/v1/; ${placeholder} becomes the id of the Workspace`)
    )
  },
  Effect.fn("api")((given) =>
    Effect.gen(function* () {
      const { client: signed, origin } = yield* Remote
      const client = repeatedWhereSafe(signed)
      const path = given.path.includes(placeholder)
        ? given.path.replaceAll(placeholder, (yield* workspaceNamed(given.workspace)).id)
        : given.path
      const url = yield* addressOf(origin, path)
      const bare = HttpClientRequest.acceptJson(HttpClientRequest.make(given.method)(url))
      const hasBody = given.method !== "GET" && given.method !== "DELETE"
      const body = Option.isSome(given.input) ? yield* inputOf(given.input.value) : hasBody ? {} : undefined
      const withKey =
        given.method === "GET" ? bare : HttpClientRequest.setHeaders(bare, yield* keyHeaders(given.idempotencyKey))
      const request = body === undefined ? withKey : yield* HttpClientRequest.bodyJson(withKey, body)
      const response = yield* client.execute(request)
      const text = yield* response.text
      if (response.status < 400) return text === "" ? undefined : yield* printLine(text)
      const { error } = yield* decodeRefusal(text)
      return yield* refusal(origin, { ...error, status: response.status })
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Send a request to the API, and print the response"),
  Command.withExamples([
    { command: "svc api GET workspaces", description: "Your Workspaces" },
    {
      command: "svc api GET 'workspaces/{workspace}/capsules?limit=5'",
      description: "The first Capsules of the selected Workspace"
    },
    { command: "svc api POST capsules/cap_.../drift-check", description: "Write with an empty body" }
  ])
)
