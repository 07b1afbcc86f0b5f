import { type Effect, Redacted, type Schema } from "effect"
import { redacted, type Hide, type RunRedactor } from "../redaction/RunRedactor.ts"
import { leafTexts } from "../redaction/SecretRule.ts"
import type { StateOutput } from "./RunOutcome.ts"
import type { StateFile } from "./StateFile.ts"

const mark = /\[redacted(?: ([^[\]]+))?\]/g
const mostOrigins = 20

/** The secrets that a value contains; `undefined` if there are none. */
export interface HeldSecrets {
  /** Names of the secrets, if known. */
  readonly origins: ReadonlyArray<string>
}

/** The secrets because of which a redactor would change a value. */
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

/** Names of the sensitive Outputs of a state that are no longer marked as sensitive. */
export const unmarkedOutputs = (
  base: Pick<StateFile, "outputs"> | undefined,
  isUnmarked: (name: string) => boolean
): ReadonlySet<string> =>
  new Set((base?.outputs ?? []).filter(({ name, sensitive }) => sensitive && isUnmarked(name)).map(({ name }) => name))

/**
 * Texts that a state marks as sensitive, without the values of `unmarked` Outputs: an Output without its mark is public, so its
 * own earlier value must not keep it private.
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
 * Marks Outputs that repeat a secret as secret, whatever the module declares. The module may not treat its input as a secret, but
 * private inputs must never be returned.
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
