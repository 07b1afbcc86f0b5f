import type { ChangedAttribute, OutputChange, ResourceChange } from "../../api/Types.ts"
import { isJsonArray, isJsonObject, type JsonValue, structureOf } from "../../value-difference/JsonValue.ts"
import { type ChangeKind, changeKind, changeName } from "./PlanDiff.ts"

/** A change that a reviewer should read first, and the reason for reading it first. */
export type FirstLook =
  | { readonly reason: "removal"; readonly kind: "destroy" | "replace" | "forget"; readonly name: string }
  | {
      readonly reason: "wider" | "public"
      readonly kind: ChangeKind
      readonly name: string
      readonly attribute: string
      /** The new part of the value, such as `"*"` or `0.0.0.0/0`. */
      readonly found: string
    }
  | { readonly reason: "output"; readonly name: string }

const removals: ReadonlySet<ChangeKind> = new Set(["destroy", "replace", "forget"])
const isRemoval = (kind: ChangeKind): kind is "destroy" | "replace" | "forget" => removals.has(kind)

/** Outgoing traffic to everywhere is normal, but incoming traffic from everywhere is not. */
const outgoing = /egress|^destination|^outbound/i

interface Leaf {
  readonly key: string
  readonly value: null | boolean | number | string
}

/** Returns the scalars in a value, with their keys. Skips policy statements whose effect is to deny. */
const leavesOf = (value: JsonValue, key: string): ReadonlyArray<Leaf> => {
  if (isJsonArray(value)) return value.flatMap((element) => leavesOf(element, key))
  if (!isJsonObject(value)) return [{ key, value }]
  if (value["Effect"] === "Deny" || value["effect"] === "Deny") return []
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, outgoing.test(key) ? key : name))
}

const isScalar = (value: unknown): value is Leaf["value"] =>
  value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string"

/** Documents longer than this are searched as text and not parsed. */
const longestParsed = 64 * 1024

const leaves = (name: string, value: unknown): ReadonlyArray<Leaf> => {
  if (typeof value === "string" && value.length > longestParsed) {
    return (value.match(/"(?:\*|0\.0\.0\.0\/0|::\/0)"/g) ?? []).map((text) => ({ key: name, value: text.slice(1, -1) }))
  }
  const structure = structureOf(value)
  if (structure !== undefined) return leavesOf(structure, name)
  return isScalar(value) ? [{ key: name, value }] : []
}

/** Matches `*`, or all actions of a service. */
const isWildcard = (text: string): boolean => text === "*" || /^[a-z0-9-]+:\*$/i.test(text)

const everybody = new Set([
  "0.0.0.0/0",
  "::/0",
  "public-read",
  "public-read-write",
  "allUsers",
  "allAuthenticatedUsers"
])
const opens = /^(?:publicly_accessible|public_network_access_enabled|allow_blob_public_access|is_public)$/
const closes = /^(?:block_public_acls|block_public_policy|ignore_public_acls|restrict_public_buckets)$/

const isPublic = ({ key, value }: Leaf): boolean =>
  (typeof value === "string" && everybody.has(value) && !outgoing.test(key)) ||
  (value === true && opens.test(key)) ||
  (value === false && closes.test(key))

const fresh = (leaves: ReadonlyArray<Leaf>, before: ReadonlyArray<Leaf>): Leaf | undefined => {
  const had = new Map<string, number>()
  for (const { key, value } of before) had.set(`${key} ${value}`, (had.get(`${key} ${value}`) ?? 0) + 1)
  return leaves.find(({ key, value }) => {
    const left = had.get(`${key} ${value}`) ?? 0
    had.set(`${key} ${value}`, left - 1)
    return left <= 0
  })
}

const isOutgoing = ({ changedAttributes, type }: ResourceChange): boolean =>
  outgoing.test(type) ||
  type.endsWith("_egress_rule") ||
  changedAttributes.some(({ after, name }) => name === "type" && after === "egress")

const widened = (change: ResourceChange, attribute: ChangedAttribute): FirstLook | undefined => {
  const { after, before, name } = attribute
  if (after === undefined || attribute.sensitive === true) return undefined
  const [now, then] = [leaves(name, after), leaves(name, before)]
  const about = { kind: changeKind(change), name: changeName(change), attribute: name }
  const isWide = ({ value }: Leaf) => typeof value === "string" && isWildcard(value)
  const wide = fresh(now.filter(isWide), then.filter(isWide))
  if (wide !== undefined) return { ...about, reason: "wider", found: JSON.stringify(wide.value) }
  if (isOutgoing(change)) return undefined
  const open = fresh(now.filter(isPublic), then.filter(isPublic))
  return open === undefined ? undefined : { ...about, reason: "public", found: `${open.key} ${String(open.value)}` }
}

const rank = { removal: 0, wider: 1, public: 2, output: 3 } as const

/** Returns the changes in a plan that a reviewer should read first: removals, wider access, and published values. */
export const firstLooks = (
  changes: ReadonlyArray<ResourceChange>,
  outputs: ReadonlyArray<OutputChange>
): ReadonlyArray<FirstLook> => {
  const found: ReadonlyArray<FirstLook> = [
    ...changes.flatMap((change): ReadonlyArray<FirstLook> => {
      const kind = changeKind(change)
      const removal = isRemoval(kind) ? [{ reason: "removal" as const, kind, name: changeName(change) }] : []
      const wider = change.changedAttributes.flatMap((attribute) => widened(change, attribute) ?? [])
      return [...removal, ...wider]
    }),
    ...outputs.flatMap(({ name, publication }) =>
      publication?.change === "published" && publication.reason !== "new" ? [{ reason: "output" as const, name }] : []
    )
  ]
  return found.toSorted((one, other) => rank[one.reason] - rank[other.reason])
}
