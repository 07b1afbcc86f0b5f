import { Redacted, Result } from "effect"
import type { Headers } from "effect/http"
import { sessionHeader } from "../../schema/api/SessionHeader.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"

/**
 * The single credential of a request. Only cookies need the origin check, because browsers send no other credential
 * automatically.
 */
export interface PresentedCredential {
  readonly kind: "bearer" | "session"
  readonly ambient: boolean
  readonly secret: Redacted.Redacted<string>
}

const maxSecretLength = 512
// Matches a single token. A comma would indicate a second Authorization header.
const bearerPattern = /^bearer ([A-Za-z0-9._~+/-]{1,512}={0,2})$/i
const sessionPattern = /^[A-Za-z0-9._~+/=-]{1,512}$/

const refuse = (message: string) => Result.fail(new ApiError({ code: "unauthenticated", message }))

const missing = refuse("The request carries no credential. Sign in, or send `Authorization: Bearer <token>`.")
const ambiguous = refuse("The request carries more than one credential. Send exactly one.")
const malformed = refuse("The credential is malformed. Send one `Authorization: Bearer <token>` or one session.")

/** Returns the values of a cookie. Searches the header in place, because this runs for every request from a browser. */
const cookieValues = (header: string, name: string): ReadonlyArray<string> => {
  const values: Array<string> = []
  for (let start = 0, end = 0; start < header.length; start = end + 1) {
    end = header.indexOf(";", start)
    if (end === -1) end = header.length
    const separator = header.indexOf("=", start)
    if (separator <= start || separator >= end || header.slice(start, separator).trim() !== name) continue
    values.push(header.slice(separator + 1, end).trim())
  }
  return values
}

/**
 * Returns the credential of a request. A bearer token takes precedence over cookies. Refuses ambiguous requests, such as two
 * headers or two cookies with the same name.
 */
export const presentedCredential = (
  headers: Headers.Headers,
  sessionCookie: string
): Result.Result<PresentedCredential, ApiError> => {
  const authorization = headers["authorization"]
  const header = headers[sessionHeader]
  if (authorization !== undefined) {
    if (header !== undefined) return ambiguous
    const secret = bearerPattern.exec(authorization)?.[1]
    if (secret === undefined) return malformed
    return Result.succeed({ kind: "bearer", ambient: false, secret: Redacted.make(secret) })
  }
  const cookies = cookieValues(headers["cookie"] ?? "", sessionCookie)
  const presented = header === undefined ? cookies : [...cookies, header]
  const [secret] = presented
  if (secret === undefined) return missing
  if (presented.length > 1) return ambiguous
  if (secret.length > maxSecretLength || !sessionPattern.test(secret)) return malformed
  return Result.succeed({ kind: "session", ambient: header === undefined, secret: Redacted.make(secret) })
}
