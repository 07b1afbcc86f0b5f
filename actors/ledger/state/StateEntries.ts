import { createHmac, type KeyObject } from "node:crypto"
import { Effect, Option, Redacted } from "effect"
import { scopeOf } from "../../../runner/redaction/SecretRule.ts"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import { holdsRunFolder } from "../../../runner/execution/ServerPaths.ts"
import { type ObjectContents, stateContents } from "../../../runner/execution/StateContents.ts"
import type { ManagedObject } from "../../../runner/execution/StateFile.ts"

/** Providers whose resources exist only in the state. Their ids are not unique: every `random_password` has the id `none`. */
const statelessProviders: ReadonlySet<string> = new Set([
  "terraform.io/builtin/terraform",
  ...["archive", "external", "http", "local", "null", "random", "template", "time", "tls"].map(
    (name) => `hashicorp/${name}`
  )
])

/**
 * Returns a key, made of provider, type and id, that identifies a real object. Returns `undefined` if the resource is not a
 * real object or has no id.
 */
export const objectKey = ({
  id,
  provider,
  type
}: Pick<ManagedObject, "id" | "provider" | "type">): string | undefined =>
  id === undefined || id === "" || statelessProviders.has(provider) ? undefined : `${provider} ${type} ${id}`

/** Keys for the index digests, derived by the vault. */
export interface IndexKeys {
  /** A key that is different for each Capsule, so that equal values in two Capsules have different digests. */
  readonly contents: KeyObject
  /** A key shared by the Capsules of a Workspace, so that their real objects can be compared. */
  readonly objects: KeyObject
}

/** The index entry of a resource instance. */
export interface ResourceEntry {
  readonly address: string
  readonly deposed: string
  /**
   * The object's first address in the index. The digests include this address instead of the current one, so that they
   * remain comparable after a move.
   */
  readonly origin: string
  readonly tainted: boolean
  readonly type: string
  readonly provider: string
  readonly objectId: string | null
  readonly objectKey: string | null
  readonly digest: string
  /** Digests of the attributes. `undefined` if the index already has this version, as it does for most resources. */
  readonly attributes: Readonly<Record<string, string>> | undefined
}

const keyedDigest = (key: KeyObject, ...texts: ReadonlyArray<string>): string => {
  const digest = createHmac("sha256", key)
  // Hashes each text separately, because a state may contain a single attribute of many MiB.
  for (const text of texts) digest.update(text)
  // 96 bits are enough, because nobody can guess a value or create a collision without the key.
  return digest.digest("base64url").slice(0, 16)
}

/** Computes the keyed digest of a real object's identity. Returns `null` if the resource is not a real object. */
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
 * Returns the object's id, or `null` if the id may reveal a secret: the state marks the id as sensitive, the id is the
 * object's value (`random_id`), or the id contains the path of a Run's folder.
 */
const shownId = (object: ObjectContents): string | null =>
  object.id === undefined || object.isIdSensitive || objectKey(object) === undefined || holdsRunFolder(object.id)
    ? null
    : object.id

type Instance = Pick<ResourceEntry, "address" | "deposed">

/** Access to the current entries of the index. */
export interface IndexedObjects {
  /** Returns true if the index contains this version. */
  readonly isIndexed: (entry: Omit<ResourceEntry, "attributes" | "objectId">) => boolean
  readonly originOf: (instance: Instance) => string
  /** Converts an address in the state to the form that is stored and shown. */
  readonly shown: (address: string) => string
}

/** Computes digests of an object's contents. The object's origin is part of the input. */
export const objectDigests = (
  keys: Pick<IndexKeys, "contents">,
  { attributes: texts, deposed, tainted }: Pick<ObjectContents, "attributes" | "deposed" | "tainted">,
  origin: string
) => {
  const attributes = [...Redacted.value(texts)]
  const digest = (...parts: ReadonlyArray<string>) =>
    keyedDigest(keys.contents, ...[origin, deposed, ...parts].flatMap((part) => [`${part.length}:`, part]))
  return {
    object: digest("object", ...attributes.flat(), ...(tainted ? ["tainted"] : [])),
    attributes: () => Object.fromEntries(attributes.map(([name, text]) => [name, digest("attribute", name, text)]))
  }
}

const resourceEntry = (keys: IndexKeys, object: ObjectContents, indexed: IndexedObjects): ResourceEntry => {
  const { deposed, provider, tainted, type } = object
  const address = indexed.shown(object.address)
  const origin = indexed.originOf({ address, deposed })
  const digests = objectDigests(keys, object, origin)
  const entry = {
    address,
    deposed,
    origin,
    tainted,
    type,
    provider,
    objectKey: keyOfObject(keys, object),
    digest: digests.object
  }
  return {
    ...entry,
    objectId: shownId(object),
    attributes: indexed.isIndexed(entry) ? undefined : digests.attributes()
  }
}

/** Returns the name of an instance within its Capsule. */
export const instanceName = ({ address, deposed }: Instance): string =>
  deposed === "" ? address : `${address} ${deposed}`

/** The index entries of a state, with all secrets hidden. */
export interface StateEntries {
  readonly resources: ReadonlyMap<string, ResourceEntry>
  readonly outputs: ReadonlyMap<string, string>
}

/**
 * Reads the index entries of a state. Returns `none` if the state cannot be read. Hides ids that contain a secret; if the secrets
 * of the state are unknown, hides all ids.
 */
export const stateEntries = Effect.fnUntraced(function* (
  keys: IndexKeys,
  state: Uint8Array,
  inputs: ReadonlyArray<SecretText> | undefined,
  indexed: IndexedObjects
) {
  const found: Array<ResourceEntry> = []
  const contents = yield* stateContents(state, (object) => void found.push(resourceEntry(keys, object, indexed)))
  if (Option.isNone(contents)) return Option.none<StateEntries>()
  const secrets =
    inputs === undefined
      ? undefined
      : [...new Set([...inputs.map(({ value }) => Redacted.value(value)), ...contents.value.sensitiveTexts])]
  const isHidden = (id: string) => secrets === undefined || secrets.some((secret) => isWithin(id, secret))
  return Option.some<StateEntries>({
    resources: new Map(
      found.map((entry) => [
        instanceName(entry),
        entry.objectId !== null && isHidden(entry.objectId) ? { ...entry, objectId: null } : entry
      ])
    ),
    outputs: new Map(
      contents.value.outputs.map(({ name, text }) => [
        name,
        keyedDigest(keys.contents, `output ${name.length}:${name}`, Redacted.value(text))
      ])
    )
  })
})
