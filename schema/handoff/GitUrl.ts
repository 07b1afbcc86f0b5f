import { Schema } from "effect"
import { fieldRule, lengthBetween } from "../manifest/FieldRule.ts"

const maxUrlCharacters = 2048
const plainUrl = /^https?:\/\/[a-z0-9.:[\]-]{1,255}\/[!-~]{1,2048}$/
/** Signs that begin a query or fragment, or that URL parsing would rewrite. */
const rewritten = /[?#\\"<>^`{|}]/

/**
 * The parts of a Git URL that has exactly one spelling: nothing in it is user information, a query or a fragment, and
 * URL parsing changes nothing, so that what a person reads is what is fetched.
 */
const canonicalUrl = (text: string): URL | undefined => {
  if (!plainUrl.test(text) || rewritten.test(text)) return undefined
  const url = URL.parse(text)
  if (url === null || url.href !== text || url.pathname === "/" || url.pathname.includes("//")) return undefined
  return url
}

/** Origins, such as `http://127.0.0.1:3000`, that the operator exempts from the rule that Git is reached by HTTPS. */
export type ExemptOrigins = ReadonlyArray<string>

/** An HTTPS Git URL in its one spelling; `http:` only for an exempt origin. */
export const isGitUrl = (text: string, exempt: ExemptOrigins = []): boolean => {
  if (text.length > maxUrlCharacters) return false
  const url = canonicalUrl(text)
  return url !== undefined && (url.protocol === "https:" || exempt.includes(url.origin))
}

/** A public HTTPS Git URL without user information, query or fragment. */
export const GitUrl = Schema.String.check(
  lengthBetween(1, maxUrlCharacters),
  fieldRule({
    code: "invalid_url",
    expected:
      "an HTTPS Git URL such as https://git.example.com/team/repository, without credentials, query or fragment",
    holds: (text) => isGitUrl(text),
    published: { pattern: "^https://[^/?#@\\\\\\s]+/[^?#\\\\\\s]+$" }
  })
)
