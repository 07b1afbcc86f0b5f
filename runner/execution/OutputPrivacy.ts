import { type Effect, Redacted, type Schema } from "effect"
import { redacted, type Hide, type RunRedactor } from "../redaction/RunRedactor.ts"
import type { StateOutput } from "./RunOutcome.ts"

const mark = /\[redacted(?: ([^[\]]+))?\]/g
const mostOrigins = 20

/** The secret parts of a value; `undefined` when there are none. */
export interface HeldSecrets {
  /** Its origin, if known. */
  readonly origins: ReadonlyArray<string>
}

/** Whether a redactor would change a value, and because of which secrets. */
export const heldSecrets = (hide: Hide, value: Schema.Json): HeldSecrets | undefined => {
  const before = JSON.stringify(value)
  const after = JSON.stringify(hide.json(value))
  if (before === after) return undefined
  const own = new Set([...before.matchAll(mark)].map(([whole]) => whole))
  const origins = [...after.matchAll(mark)].flatMap(([whole, origin]) =>
    origin === undefined || own.has(whole) ? [] : [origin]
  )
  return { origins: [...new Set(origins)].slice(0, mostOrigins) }
}

/**
 * An Output that repeats a secret is itself secret, whatever the module declares: the module may not know that its input is
 * secret, and private inputs must never be returned.
 */
export const withheldOutputs = (
  redactor: RunRedactor,
  outputs: ReadonlyArray<StateOutput>
): Effect.Effect<ReadonlyArray<StateOutput>> =>
  redacted(redactor, (hide) =>
    outputs.map((output) => {
      if (output.sensitive) return output
      const held = heldSecrets(hide, Redacted.value(output.value))
      return held === undefined ? output : { ...output, sensitive: true, origins: held.origins }
    })
  )
