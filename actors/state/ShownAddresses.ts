import { Effect } from "effect"
import { hiddenKey, hiddenKeysIn, replacedAddress, shownKeysIn } from "../../runner/redaction/InstanceKeys.ts"
import type { Redaction } from "../../runner/redaction/Redaction.ts"
import type { RedactionItem } from "../../runner/redaction/Redactor.ts"
import { Redactor } from "../../runner/redaction/Redactor.ts"
import type { SecretText } from "../../runner/redaction/SecretText.ts"

/** A text that no secret changes. */
const probe = "-"

const items = (texts: ReadonlyArray<string>) => texts.map((text): RedactionItem => ({ as: "text", text }))

/** The texts that contain a secret. */
const secretTexts = Effect.fnUntraced(function* (
  redaction: Redaction["Service"],
  texts: ReadonlyArray<string>,
  secrets: ReadonlyArray<SecretText>
) {
  const asked = [probe, ...texts]
  const [answered, ...shown] = yield* redaction.redactor(secrets).pipe(
    Effect.flatMap((redactor) => redactor.items(items(asked))),
    Effect.orElseSucceed((): ReadonlyArray<string> => []),
    Effect.scoped
  )
  // Without its thread, the same rule is applied here: a resource keeps its address.
  const direct = new Redactor(secrets)
  return new Set(texts.filter((text, index) => (answered === probe ? shown[index] : direct.text(text)) !== text))
})

/** What decides which instance keys of a Capsule are hidden. */
export interface KeySecrets {
  readonly addressKey: string
  /** `undefined` when they are unknown: then every key may be one. */
  readonly secrets: ReadonlyArray<SecretText> | undefined
  /** Texts with addresses in which some keys are hidden already: those stay hidden. */
  readonly hiddenIn: ReadonlyArray<string>
}

/** What addresses of a Capsule look like outside, in its plans as in its index, for addresses with the given ones' keys. */
export const shownAddresses = Effect.fnUntraced(function* (
  redaction: Redaction["Service"],
  addresses: Iterable<string>,
  { addressKey, hiddenIn, secrets }: KeySecrets
) {
  const keys = [...new Set([...addresses].flatMap(shownKeysIn))]
  if (keys.length === 0) return (address: string) => address
  const hiddenBefore = new Set(hiddenIn.flatMap(hiddenKeysIn))
  const found = secrets === undefined || secrets.length === 0 ? undefined : yield* secretTexts(redaction, keys, secrets)
  const forms = new Map(
    keys.flatMap((key) => {
      const hidden = hiddenKey(addressKey, key)
      return secrets === undefined || found?.has(key) === true || hiddenBefore.has(hidden) ? [[key, hidden]] : []
    })
  )
  return (address: string) => replacedAddress(address, (key) => forms.get(key) ?? key)
})
