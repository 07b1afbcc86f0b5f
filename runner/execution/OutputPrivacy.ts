import { type Effect, Redacted, type Schema } from "effect"
import { redacted, type Hide, type RunRedactor } from "../redaction/RunRedactor.ts"
import { leafTexts } from "../redaction/SecretRule.ts"
import type { StateOutput } from "./RunOutcome.ts"
import type { StateFile } from "./StateFile.ts"

const mark = /\[redacted(?: ([^[\]]+))?\]/g
const mostOrigins = 20

/** The secrets that a value contains. */
export interface HeldSecrets {
  /** Names of the secrets, if known. */
  readonly origins: ReadonlyArray<string>
}

/** Returns the secrets that a redactor would hide in a value, or `undefined` if there are none. */
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

/** Returns the names of Outputs that the state marks as sensitive but that are no longer declared sensitive. */
export const unmarkedOutputs = (
  base: Pick<StateFile, "outputs"> | undefined,
  isUnmarked: (name: string) => boolean
): ReadonlySet<string> =>
  new Set((base?.outputs ?? []).filter(({ name, sensitive }) => sensitive && isUnmarked(name)).map(({ name }) => name))

/**
 * Returns the texts that a state marks as sensitive, except the values of `unmarked` Outputs. An Output that lost its mark is
 * public, so its own earlier value must not make it private again.
 */
export const markedTexts = (
  state: Pick<StateFile, "outputs" | "sensitiveObjectTexts"> | undefined,
  unmarked: ReadonlySet<string>
): ReadonlyArray<string> =>
  state === undefined
    ? []
    : [
        ...(state.outputs ?? []).flatMap(({ name, sensitive, value }) =>
          sensitive && !unmarked.has(name) ? leafTexts(Redacted.value(value)) : []
        ),
        ...state.sensitiveObjectTexts
      ]

/**
 * Marks Outputs that repeat a secret as secret, even if the module declares them as public. The module might not mark an
 * input as sensitive, but svc must never return private inputs.
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
