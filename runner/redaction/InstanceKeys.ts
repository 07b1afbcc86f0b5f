import { createHmac } from "node:crypto"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

const stringKey = /\["((?:[^"\\]|\\.)*)"\]/g
const hiddenForm = /\[redacted key [0-9a-f]{12}\]/g
const isHidden = /^\[redacted key [0-9a-f]{12}\]$/

const unquoted = Option.liftThrowable((key: string): unknown => JSON.parse(`"${key}"`))

/**
 * Returns the text that replaces a secret instance key in an address. The digest in this text uses the Capsule's key, so
 * nobody can verify a guessed instance key. Within a Capsule, equal instance keys always have equal digests, and different
 * keys have different digests.
 */
export const hiddenKey = (addressKey: string, instanceKey: string): string => {
  // Unquote the key. A state quotes keys as JSON strings; the tool's output also doubles template characters.
  const text = Option.getOrElse(unquoted(instanceKey), () => instanceKey)
  const digest = createHmac("sha256", addressKey).update(String(text).replaceAll(/([$%])\1\{/g, "$1{"))
  return `[redacted key ${digest.digest("hex").slice(0, 12)}]`
}

/** Returns all replaced instance keys in a text. */
export const hiddenKeysIn = (text: string): ReadonlyArray<string> => text.match(hiddenForm) ?? []

/** Returns the visible string keys in an address, in quoted form. */
export const shownKeysIn = (address: string): ReadonlyArray<string> =>
  [...address.matchAll(stringKey)].map(([, key = ""]) => key).filter((key) => !isHidden.test(key))

/** Rewrites the string keys in an address, and the text around the keys. */
export const replacedAddress = (
  address: string,
  key: (instanceKey: string) => string,
  name: (text: string) => string = (text) => text
): string => {
  let shown = ""
  let from = 0
  for (const { 0: found, 1: instanceKey = "", index } of address.matchAll(stringKey)) {
    shown += `${name(address.slice(from, index))}["${key(instanceKey)}"]`
    from = index + found.length
  }
  return shown + name(address.slice(from))
}

/**
 * Hides every string key of an address, so that an address from a state can be compared with the same address in displayed form.
 */
export const comparedAddress = (addressKey: Redacted.Redacted, address: string): string =>
  replacedAddress(address, (key) => (isHidden.test(key) ? key : hiddenKey(Redacted.value(addressKey), key)))
