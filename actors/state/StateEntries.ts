import { createHmac, type KeyObject } from "node:crypto"
import { Redacted } from "effect"
import { scopeOf } from "../../runner/redaction/SecretRule.ts"
import type { SecretText } from "../../runner/redaction/SecretText.ts"
import type { ObjectContents, StateContents } from "../../runner/execution/StateContents.ts"
import type { ManagedObject } from "../../runner/execution/StateFile.ts"
import { objectKey } from "./ObjectKey.ts"

/** Keys of the digests, from the vault. */
export interface IndexKeys {
  /** For the contents of one Capsule: equal values in two Capsules have different digests. */
  readonly contents: KeyObject
  /** For the real objects of one Workspace, which are compared between its Capsules. */
  readonly objects: KeyObject
}

/** The index entry of an instance of a resource. */
export interface ResourceEntry {
  readonly address: string
  readonly deposed: string
  readonly type: string
  readonly provider: string
  readonly objectId: string | null
  readonly objectKey: string | null
  readonly digest: string
  /** Computed only for new rows: most resources do not change. */
  readonly attributes: () => Readonly<Record<string, string>>
}

const keyedDigest = (key: KeyObject, text: string): string =>
  // 96 bits are plenty: without the key, a value cannot be guessed, and collisions cannot be constructed.
  createHmac("sha256", key).update(text).digest("base64url").slice(0, 16)

/** The keyed digest of a real object's identity; `null` without one. */
export const keyOfObject = (keys: Pick<IndexKeys, "objects">, object: ManagedObject): string | null => {
  const key = objectKey(object)
  return key === undefined ? null : keyedDigest(keys.objects, key)
}

const isWithin = (text: string, secret: string): boolean => {
  const scope = scopeOf(secret)
  if (scope === "none") return false
  return scope === "anywhere" ? text.includes(secret.trim()) : text.split(/[^A-Za-z0-9]+/).includes(secret.trim())
}

/**
 * The id that may be shown. One that the state marks as sensitive, that contains a secret, or that is the value of an object
 * and not its name (`random_id`) is not; nor is any while it is unknown which secrets the state contains.
 */
const shownId = (object: ObjectContents, secrets: ReadonlyArray<string> | undefined): string | null => {
  const { id } = object
  if (id === undefined || secrets === undefined || object.isIdSensitive || objectKey(object) === undefined) return null
  return secrets.some((secret) => isWithin(id, secret)) ? null : id
}

const resourceEntry = (
  keys: IndexKeys,
  object: ObjectContents,
  secrets: ReadonlyArray<string> | undefined
): ResourceEntry => {
  const { address, deposed, provider, type } = object
  const attributes = [...Redacted.value(object.attributes)]
  const digest = (...parts: ReadonlyArray<string>) =>
    keyedDigest(keys.contents, [address, deposed, ...parts].map((part) => `${part.length}:${part}`).join(""))
  return {
    address,
    deposed,
    type,
    provider,
    objectId: shownId(object, secrets),
    objectKey: keyOfObject(keys, object),
    digest: digest("object", ...attributes.flat()),
    attributes: () => Object.fromEntries(attributes.map(([name, text]) => [name, digest("attribute", name, text)]))
  }
}

/** The name of an instance within a Capsule. */
export const instanceName = ({ address, deposed }: { readonly address: string; readonly deposed: string }): string =>
  deposed === "" ? address : `${address} ${deposed}`

/** The index entries of a state, without anything that the index or the database must not show. */
export const stateEntries = (
  keys: IndexKeys,
  contents: StateContents,
  inputs: ReadonlyArray<SecretText> | undefined
): {
  readonly resources: ReadonlyMap<string, ResourceEntry>
  readonly outputs: ReadonlyMap<string, string>
} => {
  const secrets =
    inputs === undefined
      ? undefined
      : [...new Set([...inputs.map(({ value }) => Redacted.value(value)), ...contents.sensitiveTexts])]
  return {
    resources: new Map(contents.objects.map((object) => [instanceName(object), resourceEntry(keys, object, secrets)])),
    outputs: new Map(
      contents.outputs.map(({ name, text }) => [
        name,
        keyedDigest(keys.contents, `output ${name.length}:${name}${Redacted.value(text)}`)
      ])
    )
  }
}
