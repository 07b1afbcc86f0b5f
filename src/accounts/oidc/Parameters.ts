import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { refuse } from "../../../actors/access/issuer/OAuthError.ts"
import { readBodyBytes } from "../../http-kit/RequestBody.ts"

const maxFormBytes = 65_536
const formType = /^application\/x-www-form-urlencoded(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i

/** Parameters of an OAuth request. A parameter without a value is treated as absent (RFC 6749 3.1). */
export interface Parameters {
  readonly get: (name: string) => string | undefined
  /** All values of the parameter in order, including empty values. */
  readonly all: (name: string) => ReadonlyArray<string>
  /** Names that occur more than once. */
  readonly repeated: ReadonlyArray<string>
  /** Encodes all parameters in order, except for those with the given names. */
  readonly encodeWithout: (...names: ReadonlyArray<string>) => string
}

export const parseParameters = (text: string): Parameters => {
  const entries = [...new URLSearchParams(text)]
  const all = (name: string) => entries.filter(([key]) => key === name).map(([, value]) => value)
  const names = new Set(entries.map(([key]) => key))
  return {
    get: (name) => all(name).find((value) => value !== ""),
    all,
    repeated: [...names].filter((name) => all(name).length > 1),
    encodeWithout: (...omitted) => new URLSearchParams(entries.filter(([key]) => !omitted.includes(key))).toString()
  }
}

/** The query parameters of the current request. */
export const queryParameters = Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
  const at = url.indexOf("?")
  return parseParameters(at < 0 ? "" : url.slice(at + 1))
})

/** Reads the form of the current request. Fails with `invalid_request` for any other body type. */
export const formParameters = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  if (!formType.test(headers["content-type"] ?? "")) {
    return yield* refuse("invalid_request", "Send the parameters as application/x-www-form-urlencoded.")
  }
  return parseParameters(new TextDecoder().decode(yield* readBodyBytes(maxFormBytes)))
})

/** Like `formParameters`, for endpoints that forbid repeated parameters (RFC 6749 3.2). */
export const singleFormParameters = Effect.gen(function* () {
  const parameters = yield* formParameters
  const [twice] = parameters.repeated
  if (twice !== undefined) {
    return yield* refuse("invalid_request", `The parameter ${twice.slice(0, 64)} was sent more than once.`)
  }
  return parameters
})
