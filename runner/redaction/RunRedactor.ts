import { Effect, type Schema } from "effect"
import { redactionMark } from "./RedactionMark.ts"
import type { RedactedLine } from "./RedactionLines.ts"
import type { RedactionItem } from "./Redactor.ts"
import type { Secret } from "./SecretRule.ts"

/** Redacts text that arrives in pieces. */
export interface RedactedText {
  /** Adds a piece. Returns the part of the text that no later piece can change. */
  readonly push: (piece: string) => Effect.Effect<string>
  readonly end: (rest: string) => Effect.Effect<string>
}

/** Redacts text that arrives line by line. */
export interface RedactedLines {
  /** Adds lines. Returns the lines that no later line can change, in order. */
  readonly push: (lines: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<RedactedLine>>
  /**
   * Returns all remaining lines. Hides a suffix that contains 6 characters of a secret, because the text may have been cut off.
   */
  readonly end: Effect.Effect<ReadonlyArray<RedactedLine>>
}

/** Hides the secrets of one Run, on any machine that executes it. */
export interface RunRedactor {
  /** Adds secrets that become known during the Run. */
  readonly add: (secrets: ReadonlyArray<Secret>) => Effect.Effect<void>
  readonly items: (items: ReadonlyArray<RedactionItem>) => Effect.Effect<ReadonlyArray<string>>
  readonly open: Effect.Effect<RedactedText>
  readonly openLines: Effect.Effect<RedactedLines>
}

/** Redacts the parts of a larger value. */
export interface Hide {
  readonly text: (text: string) => string
  readonly name: (name: string) => string
  readonly address: (address: string) => string
  readonly message: (text: string, address: string | undefined) => string
  /** Redacts one of several parts that are shown together. */
  readonly part: (parts: ReadonlyArray<string>, index: number) => string
  /** Redacts every string, key and number. Drops anything nested deeper than 512 levels. */
  readonly json: (value: Schema.Json) => Schema.Json
}

const deepestJson = 512
const isArray = (value: Schema.JsonArray | Schema.JsonObject): value is Schema.JsonArray => Array.isArray(value)

const hideWith = (hide: (item: RedactionItem) => string): Hide => {
  const text = (shown: string) => hide({ as: "text", text: shown })
  const json = (value: Schema.Json, depth: number): Schema.Json => {
    if (typeof value === "string") return text(value)
    if (typeof value === "number") {
      const shown = text(String(value))
      return shown === String(value) ? value : shown
    }
    if (value === null || typeof value === "boolean") return value
    if (depth === deepestJson) return redactionMark
    if (isArray(value)) return value.map((element) => json(element, depth + 1))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [text(key), json(member, depth + 1)]))
  }
  return {
    text,
    name: (name) => hide({ as: "name", text: name }),
    address: (address) => hide({ as: "address", text: address }),
    message: (shown, address) => hide({ as: "message", text: shown, address }),
    part: (parts, index) => hide({ as: "part", text: parts[index] ?? "", parts, index }),
    json: (value) => json(value, 0)
  }
}

/**
 * Redacts all parts of a value in one request. Calls `render` twice: first to collect the parts, and then to insert the
 * redacted ones. Each time, `render` must request the same parts in the same order.
 */
export const redacted = Effect.fnUntraced(function* <A>(redactor: RunRedactor, render: (hide: Hide) => A) {
  const items: Array<RedactionItem> = []
  render(
    hideWith((item) => {
      items.push(item)
      return ""
    })
  )
  const results = yield* redactor.items(items)
  let index = 0
  return render(hideWith(() => results[index++] ?? redactionMark))
})
