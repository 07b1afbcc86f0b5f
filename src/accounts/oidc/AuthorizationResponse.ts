import { HttpServerResponse } from "effect/http"
import type { OAuthError } from "../../../actors/identity/OAuthError.ts"

interface Target {
  readonly redirectUri: string
  readonly state?: string | undefined
}

const headers = { "cache-control": "no-store", pragma: "no-cache", "referrer-policy": "no-referrer" }

/** 303: whatever method brought the browser here, it continues with GET and without the body. */
export const seeOther = (location: string) =>
  HttpServerResponse.empty({ status: 303, headers: { ...headers, location } })

const respond = (issuer: string, { redirectUri, state }: Target, parameters: Readonly<Record<string, string>>) => {
  const query = new URLSearchParams({ ...parameters, ...(state === undefined ? {} : { state }), iss: issuer })
  // Appended as text: the registered address stays unchanged, character for character.
  return seeOther(`${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${query.toString()}`)
}

/** The code, with the issuer beside it so that a client of several issuers cannot be confused (RFC 9207). */
export const codeResponse = (issuer: string, target: Target, code: string) => respond(issuer, target, { code })

export const errorResponse = (issuer: string, target: Target, { description, error }: OAuthError) =>
  respond(issuer, target, { error, error_description: description })
