import { Redacted, type Schema } from "effect"
import { redactionMark } from "./RedactionMark.ts"
import { RedactionStream } from "./RedactionStream.ts"
import { SecretMatcher } from "./SecretMatcher.ts"

export type Secret = Redacted.Redacted<string | Uint8Array>

const deepestJson = 512

/**
 * Replaces secrets by `[redacted]`, in every spelling that `secretForms` knows. Cannot find a secret that a module
 * reversed, split or encrypted.
 *
 * Values of 2 to 5 characters are replaced only where they stand as whole tokens, shorter ones never: refuse such
 * values where they are entered.
 */
export class Redactor {
  readonly #secrets = new Set<string | Uint8Array>()
  #matcher = new SecretMatcher([])

  constructor(secrets: Iterable<Secret> = []) {
    this.add(secrets)
  }

  /** Adds secrets that appear while a run goes on; streams that are open follow from their next piece on. */
  add(secrets: Iterable<Secret>): void {
    const known = this.#secrets.size
    for (const secret of secrets) this.#secrets.add(Redacted.value(secret))
    if (this.#secrets.size > known) this.#matcher = new SecretMatcher(this.#secrets)
  }

  text(text: string): string {
    return this.stream().end(text)
  }

  /** For text that arrives in pieces; one stream for each source. */
  stream(): RedactionStream {
    return new RedactionStream(() => this.#matcher)
  }

  /** Redacts every string, key and number of a parsed value. What lies deeper than 512 levels is dropped whole. */
  json(value: Schema.Json): Schema.Json {
    return this.#json(value, 0)
  }

  #json(value: Schema.Json, depth: number): Schema.Json {
    if (typeof value === "string") return this.text(value)
    if (typeof value === "number") {
      const text = String(value)
      const redacted = this.text(text)
      return redacted === text ? value : redacted
    }
    if (value === null || typeof value === "boolean") return value
    if (depth === deepestJson) return redactionMark
    if (isArray(value)) return value.map((element) => this.#json(element, depth + 1))
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [this.text(key), this.#json(member, depth + 1)])
    )
  }
}

const isArray = (value: Schema.JsonArray | Schema.JsonObject): value is Schema.JsonArray => Array.isArray(value)
