import * as Redacted from "effect/Redacted"
import { hiddenKey, replacedAddress } from "./InstanceKeys.ts"
import { PatternAutomaton } from "./PatternAutomaton.ts"
import { RedactionLines } from "./RedactionLines.ts"
import { RedactionStream } from "./RedactionStream.ts"
import { secretPatterns } from "./SecretPatterns.ts"
import type { Secret } from "./SecretRule.ts"
import { TextScanner } from "./TextScanner.ts"

/**
 * Names in the module's own code may contain a short secret by chance, such as `postgres`. The code is not secret, so only
 * secrets too long for a chance match are hidden in names.
 */
const shortestInName = 16

/**
 * The kind of text: in a `name` or an `address`, everything but instance keys comes from the module. The parts of one message are
 * read as the lines of one text, which may have been cut off.
 */
export interface RedactionItem {
  readonly as: "text" | "name" | "address" | "message" | "part"
  readonly text: string
  /** For a message: the address that it concerns. */
  readonly address?: string | undefined
  /** For a part: all parts in display order, and the index of this part. */
  readonly parts?: ReadonlyArray<string> | undefined
  readonly index?: number | undefined
}

/**
 * Replaces secrets with `[redacted <origin>]`, in every encoding that can be undone without knowing the secret. Cannot find a
 * secret that a module has reversed, split or encrypted. `SecretRule.ts` defines what counts as a secret, and where.
 *
 * It may hold several sets of values, such as a credential before and after its rotation, and hides each value.
 */
export class Redactor {
  readonly #secrets: Array<Secret> = []
  readonly #known = new Set<string | Uint8Array>()
  #automaton: PatternAutomaton | undefined
  // Reused for many complete strings, because a plan contains many short strings.
  #scanner: TextScanner | undefined

  #addressKey: string | undefined

  constructor(...sets: ReadonlyArray<Iterable<Secret>>) {
    for (const secrets of sets) this.add(secrets)
  }

  /** Adds secrets that appear during a run; open streams apply them from their next piece. */
  add(secrets: Iterable<Secret>): void {
    for (const secret of secrets) {
      const value = Redacted.value(secret.value)
      if (this.#known.has(value)) continue
      this.#known.add(value)
      this.#secrets.push(secret)
      this.#automaton = undefined
      this.#scanner = undefined
    }
  }

  /** After this call, addresses show a secret instance key as its digest under this key. */
  keyAddresses(addressKey: string): void {
    this.#addressKey = addressKey
  }

  item({ address, as, index, parts, text }: RedactionItem): string {
    switch (as) {
      case "text":
        return this.text(text)
      case "name":
        return this.name(text)
      case "address":
        return this.address(text)
      case "message":
        return this.message(text, address)
      case "part":
        return this.parts(parts ?? [text])[index ?? 0] ?? ""
    }
  }

  text(text: string): string {
    return this.#whole(text, 0)
  }

  /** A name from the module's code or a provider. */
  name(name: string): string {
    return this.#whole(name, shortestInName)
  }

  /** The address of a resource: names, and instance keys, which may come from a secret value. */
  address(address: string): string {
    return replacedAddress(
      address,
      (key) => {
        const shown = this.text(key)
        return shown === key || this.#addressKey === undefined ? shown : hiddenKey(this.#addressKey, key)
      },
      (text) => this.name(text)
    )
  }

  /** A message from the tool about a resource. */
  message(text: string, address: string | undefined): string {
    const index = address === undefined || address === "" ? -1 : text.indexOf(address)
    if (address === undefined || index < 0) return this.text(text)
    return this.text(text.slice(0, index)) + this.address(address) + this.text(text.slice(index + address.length))
  }

  /** The parts of one message, such as a diagnostic's summary and detail. */
  parts(parts: ReadonlyArray<string>): ReadonlyArray<string> {
    const lines = this.lines()
    return [...lines.push(parts), ...lines.end()].map((line) => line ?? "")
  }

  /** For text that arrives in pieces; one stream per source. */
  stream(): RedactionStream {
    return new RedactionStream(() => this.#search())
  }

  /** Like the above, for text that arrives in lines. */
  lines(): RedactionLines {
    return new RedactionLines(this.stream())
  }

  #whole(text: string, shortest: number): string {
    const automaton = this.#search()
    this.#scanner ??= new TextScanner(automaton, 0)
    this.#scanner.restart()
    return new RedactionStream(() => automaton, shortest, this.#scanner).end(text)
  }

  // Built on first use for all secrets added so far.
  #search(): PatternAutomaton {
    this.#automaton ??= new PatternAutomaton(secretPatterns(this.#secrets))
    return this.#automaton
  }
}
