import { createHash } from "node:crypto"
import { Effect, Redacted } from "effect"
import { holdsRunFolder } from "../../../runner/execution/ServerPaths.ts"
import { hiddenKey, hiddenKeysIn, replacedAddress, shownKeysIn } from "../../../runner/redaction/InstanceKeys.ts"
import type { Redaction } from "../../../runner/redaction/Redaction.ts"
import type { RedactionItem } from "../../../runner/redaction/Redactor.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import { inTransaction } from "../../../runner/thread/OutsideTransaction.ts"

/** A text without secrets. If the redaction thread does not return this text unchanged, the thread has failed. */
const probe = "-"

const items = (texts: ReadonlyArray<string>) => texts.map((text): RedactionItem => ({ as: "text", text }))

/** Limits below which a search takes only a few milliseconds and needs no thread. */
const few = { secrets: 500, characters: 64 * 1024, texts: 1000 }

const areFew = (texts: ReadonlyArray<string>, secrets: ReadonlyArray<SecretText>): boolean =>
  texts.length <= few.texts &&
  secrets.length <= few.secrets &&
  secrets.reduce((sum, { value }) => sum + Redacted.value(value).length, 0) <= few.characters

/** Returns the texts that contain a secret. */
const withSecrets = Effect.fnUntraced(function* (
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
  // If the redaction thread fails, applies the same rule on the current thread, because an address must always be shown in
  // the same way.
  const direct = new Redactor(secrets)
  return new Set(texts.filter((text, index) => (answered === probe ? shown[index] : direct.text(text)) !== text))
})

const mostVerdicts = 16

/**
 * Returns a function that finds the texts that contain a secret. Searching for many secrets needs a thread, and a
 * transaction cannot wait for a thread. Therefore the search must run before the transaction; otherwise every text is
 * treated as a secret.
 */
export const makeSecretTexts = (redaction: Redaction["Service"]) => {
  const verdicts = new Map<string, ReadonlySet<string>>()
  return Effect.fnUntraced(function* (
    texts: ReadonlyArray<string>,
    secrets: ReadonlyArray<SecretText>
  ): Effect.fn.Return<ReadonlySet<string>> {
    if (areFew(texts, secrets)) {
      const redactor = new Redactor(secrets)
      return new Set(texts.filter((text) => redactor.text(text) !== text))
    }
    const asked = createHash("sha256").update(`${texts.length}:`)
    for (const text of [...texts, ...secrets.map(({ value }) => Redacted.value(value))])
      asked.update(`${text.length}:`).update(text)
    const question = asked.digest("hex")
    const known = verdicts.get(question)
    if (known !== undefined) return known
    if (yield* inTransaction) return new Set(texts)
    const found = yield* withSecrets(redaction, texts, secrets)
    const [oldest] = verdicts.keys()
    if (verdicts.size >= mostVerdicts && oldest !== undefined) verdicts.delete(oldest)
    verdicts.set(question, found)
    return found
  })
}
export type SecretTexts = ReturnType<typeof makeSecretTexts>

/** Data that determines which instance keys of a Capsule are hidden. */
export interface KeySecrets {
  readonly addressKey: string
  /** `undefined` if unknown; every key is then hidden. */
  readonly secrets: ReadonlyArray<SecretText> | undefined
  /** Texts with addresses in which some keys are already hidden. These keys remain hidden. */
  readonly hiddenIn: ReadonlyArray<string>
}

/**
 * Returns a function that hides the secret instance keys in a Capsule's addresses, as its plans and its index show them. The
 * function also hides keys that contain the path of a Run's folder.
 */
export const shownAddresses = Effect.fnUntraced(function* (
  secretTexts: SecretTexts,
  addresses: Iterable<string>,
  { addressKey, hiddenIn, secrets }: KeySecrets
) {
  const keys = [...new Set([...addresses].flatMap(shownKeysIn))]
  if (keys.length === 0) return (address: string) => address
  const hiddenBefore = new Set(hiddenIn.flatMap(hiddenKeysIn))
  const found = secrets === undefined || secrets.length === 0 ? undefined : yield* secretTexts(keys, secrets)
  const forms = new Map(
    keys.flatMap((key) => {
      const hidden = hiddenKey(addressKey, key)
      const isSecret = secrets === undefined || found?.has(key) === true || hiddenBefore.has(hidden)
      return isSecret || holdsRunFolder(key) ? [[key, hidden]] : []
    })
  )
  return (address: string) => replacedAddress(address, (key) => forms.get(key) ?? key)
})
