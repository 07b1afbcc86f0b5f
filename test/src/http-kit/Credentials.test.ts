import { expect, test } from "bun:test"
import { Redacted, Result } from "effect"
import { Headers } from "effect/http"
import { presentedCredential } from "../../../src/http-kit/Credentials.ts"

const sessionOf = (cookie: string) => {
  const found = presentedCredential(Headers.fromInput({ cookie }), "svc_session")
  return Result.isSuccess(found) ? Redacted.value(found.success.secret) : found.failure.message.slice(0, 34)
}
const none = "The request carries no credential."
const ambiguous = "The request carries more than one "
const malformed = "The credential is malformed. Send "

test.each([
  ["svc_session=a", "a"],
  ["theme=dark; svc_session=a", "a"],
  ["theme=dark;svc_session=a;", "a"],
  [" svc_session = a ; theme", "a"],
  ["svc_session=a=", "a="],
  ["theme; svc_session=a", "a"],
  ["svc_session=a; svc_session=b", ambiguous],
  ["svc_session=a;svc_session=a", ambiguous],
  ["svc_session=; theme=dark", malformed],
  ["svc_session=a b", malformed],
  ["", none],
  [";", none],
  ["=a", none],
  ["svc_session", none],
  ["svc_session; theme=a", none],
  ["svc_sessions=a; _svc_session=b; SVC_SESSION=c", none],
  ["theme=svc_session=a", none]
])("the session in the cookies `%s` is `%s`", (cookie, session) => {
  expect(sessionOf(cookie)).toBe(session)
})
