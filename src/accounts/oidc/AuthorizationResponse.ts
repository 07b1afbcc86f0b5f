import { HttpServerResponse } from "effect/http"
import type { OAuthError } from "../../../actors/access/issuer/OAuthError.ts"

interface Target {
  readonly redirectUri: string
  readonly state?: string | undefined
}

const headers = { "cache-control": "no-store", pragma: "no-cache", "referrer-policy": "no-referrer" }

/**
 * Redirects with status 303, so that the browser continues with GET and without a body, regardless of the original method.
 */
export const seeOther = (location: string) =>
  HttpServerResponse.empty({ status: 303, headers: { ...headers, location } })

const answerAddress = (
  issuer: string,
  { redirectUri, state }: Target,
  parameters: Readonly<Record<string, string>>
): string => {
  const query = new URLSearchParams({ ...parameters, ...(state === undefined ? {} : { state }), iss: issuer })
  // Append to the string instead of parsing it, so that the registered address is preserved exactly.
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${query.toString()}`
}

/**
 * Builds the address that returns the code to the client. Includes the issuer, so that a client of several issuers cannot confuse
 * them (RFC 9207).
 */
export const codeAddress = (issuer: string, target: Target, code: string) => answerAddress(issuer, target, { code })

export const errorAddress = (issuer: string, target: Target, { description, error }: OAuthError) =>
  answerAddress(issuer, target, { error, error_description: description })
