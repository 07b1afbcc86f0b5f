import { Config, Effect, Option, Redacted, Schema } from "effect"
import { Prompt, TerminalCapabilities } from "effect/cli"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { sessionHeader } from "../../../schema/api/SessionHeader.ts"
import { clientEnv } from "../../settings/ClientSettings.ts"
import { CommandFailed, misuse } from "../Output.ts"
import { refusal, RefusedAnswer } from "../remote/RemoteFailed.ts"

const cookieName = /^(?:__Host-)?svc_session$/

const decodeRefusal = Schema.decodeEffect(Schema.fromJsonString(RefusedAnswer))

/** Reads an authenticator code from the environment or a prompt, for an account with an authenticator. */
const codeOf = Effect.gen(function* () {
  const given = yield* Config.option(Config.Redacted(clientEnv.code))
  if (Option.isSome(given)) return given.value
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (canPrompt) return yield* Prompt.run(Prompt.Password({ message: "Code from your authenticator" }))
  return yield* new CommandFailed({
    ...misuse,
    message: `This account needs a code of its authenticator, and there is no terminal to ask at. Give it in ${clientEnv.code}.`
  })
})

const secretOf = (response: HttpClientResponse.HttpClientResponse) =>
  Object.values(response.cookies.cookies).find(({ name }) => cookieName.test(name))?.value

/** Requests a session. The response contains either the session or the reason for the refusal. */
const asked = Effect.fnUntraced(function* (origin: string, path: string, body: Schema.Json) {
  const client = yield* HttpClient.HttpClient
  const request = HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${origin}${path}`), body)
  const response = yield* client.execute(request)
  const session = secretOf(response)
  if (response.status < 400 && session !== undefined) return { session: Redacted.make(session) }
  const { error } = yield* decodeRefusal(yield* response.text)
  return { refused: { ...error, status: response.status } }
})

const withoutPasswords = (origin: string) =>
  new CommandFailed({
    message: `${origin} takes no passwords, so this is done in the dashboard: ${origin}`
  })

/** Returns the session. Fails with the server's error, reworded for the command line. */
const sessionOf = Effect.fnUntraced(function* (origin: string, answer: Effect.Success<ReturnType<typeof asked>>) {
  if (answer.session !== undefined) return answer.session
  const { refused } = answer
  if (refused.code === "capability_not_available") return yield* withoutPasswords(origin)
  // Do not suggest logging in again, because the password was wrong.
  const code = refused.code === "unauthenticated" ? "sign_in_refused" : refused.code
  return yield* refusal(origin, { ...refused, code })
})

/** Signs in. Prompts for a code if the account has an authenticator. */
export const signIn = Effect.fn("signIn")(function* (origin: string, email: string, password: Redacted.Redacted) {
  const body = { email, password: Redacted.value(password) }
  const first = yield* asked(origin, "/auth/sign-in", body)
  if (first.refused?.code !== "second_factor_required") return yield* sessionOf(origin, first)
  const code = Redacted.value(yield* codeOf)
  return yield* sessionOf(origin, yield* asked(origin, "/auth/sign-in", { ...body, code }))
})

export interface NewAccount {
  readonly secret: Redacted.Redacted
  readonly password: Redacted.Redacted
  readonly email: string | undefined
  readonly displayName: string | undefined
}

/** Creates an account from an invitation and accepts the invitation. */
export const signUp = Effect.fn("signUp")(function* (origin: string, account: NewAccount) {
  const { displayName, email, password, secret } = account
  const answer = yield* asked(origin, "/auth/invitations/sign-up", {
    secret: Redacted.value(secret),
    password: Redacted.value(password),
    ...(email === undefined ? {} : { email }),
    ...(displayName === undefined ? {} : { displayName })
  })
  return yield* sessionOf(origin, answer)
})

/** Closes a session. If the server cannot be reached, the session simply expires. */
export const signOut = (origin: string, session: Redacted.Redacted) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    yield* client.execute(
      HttpClientRequest.post(`${origin}/auth/sign-out`).pipe(
        HttpClientRequest.setHeader(sessionHeader, Redacted.value(session))
      )
    )
  }).pipe(Effect.ignore)
