import { type Highlight } from "./Difference.ts"
import { identityOf, pairElements, pairKeys } from "./JsonPairing.ts"
import { canonicalText, isJsonArray, isJsonObject, type JsonValue } from "./JsonValue.ts"

/**
 * A value on both sides, with the values inside it. `same` may be in a different order where order has no meaning; `moved` is
 * equal but at a different position in an ordered list.
 */
export interface JsonNode {
  /** The key in an object; absent in a list. */
  readonly key: string | undefined
  /** The position in a list, counting from 0, on the side where it exists. */
  readonly index: number | undefined
  readonly state: "same" | "changed" | "moved" | "added" | "removed"
  readonly before: JsonValue | undefined
  readonly after: JsonValue | undefined
  /** The members if both sides are objects, the elements if both are lists. */
  readonly children: ReadonlyArray<JsonNode> | undefined
  /** The previous position of an element that moved in a list whose order matters. */
  readonly movedFrom: number | undefined
  /** Nested elements whose only change is their position, where order has no meaning. */
  readonly reordered: number
}

/** Lists in an access policy whose order has no meaning. */
const unorderedKeys: ReadonlySet<string> = new Set([
  "Statement",
  "Action",
  "NotAction",
  "Resource",
  "NotResource",
  "AWS",
  "Service",
  "Federated",
  "CanonicalUser"
])

const policyKeys: ReadonlySet<string> = new Set(["Effect", "Principal", "NotPrincipal", "Action", "NotAction"])

const isPolicy = (value: JsonValue | undefined) => isJsonObject(value) && Object.hasOwn(value, "Statement")

interface Place {
  readonly key?: string | undefined
  readonly index?: number | undefined
  readonly movedFrom?: number | undefined
  readonly inPolicy: boolean
}

const member = (value: JsonValue | undefined, key: string): JsonValue | undefined =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** Compares two values, at least one of which exists. */
export const jsonTree = (before: JsonValue | undefined, after: JsonValue | undefined, place?: Place): JsonNode => {
  const inPolicy = place?.inPolicy ?? (isPolicy(before) || isPolicy(after))
  const node = {
    key: place?.key,
    index: place?.index,
    movedFrom: place?.movedFrom,
    before,
    after,
    children: undefined,
    reordered: 0
  }
  if (before === undefined) return { ...node, state: "added" }
  if (after === undefined) return { ...node, state: "removed" }
  if (canonicalText(before) === canonicalText(after)) {
    return { ...node, state: place?.movedFrom === undefined ? "same" : "moved" }
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    return withChildren(
      node,
      pairKeys(Object.keys(before), Object.keys(after)).map((key) =>
        jsonTree(member(before, key), member(after, key), { key, inPolicy })
      )
    )
  }
  if (isJsonArray(before) && isJsonArray(after)) {
    const isUnordered = inPolicy && place?.key !== undefined && unorderedKeys.has(place.key)
    const { moved, pairs } = pairElements(before, after)
    const children = pairs.map((pair) =>
      jsonTree(
        pair.before === undefined ? undefined : before[pair.before],
        pair.after === undefined ? undefined : after[pair.after],
        {
          inPolicy,
          index: pair.after ?? pair.before,
          movedFrom: !isUnordered && pair.before !== undefined && moved.has(pair.before) ? pair.before : undefined
        }
      )
    )
    return withChildren(node, children, isUnordered ? moved.size : 0)
  }
  return { ...node, state: "changed" }
}

const withChildren = (node: Omit<JsonNode, "state">, children: ReadonlyArray<JsonNode>, reordered = 0): JsonNode => ({
  ...node,
  children,
  reordered: children.reduce((sum, child) => sum + child.reordered, reordered),
  state: children.some(({ state }) => state !== "same") ? "changed" : "same"
})

const longestHighlight = 60

const short = (value: JsonValue | undefined): string | undefined => {
  if (value === undefined) return undefined
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return text.length <= longestHighlight ? text : `${text.slice(0, longestHighlight - 1)}…`
}

const hasWildcard = (value: JsonValue | undefined): boolean => {
  if (typeof value === "string") return value.includes("*")
  if (isJsonArray(value)) return value.some(hasWildcard)
  return isJsonObject(value) && Object.values(value).some(hasWildcard)
}

const highlight = (node: JsonNode): Highlight => {
  const name = node.key ?? identityOf(node.after ?? node.before) ?? ""
  const { after, before, children } = node
  if (children === undefined || !isJsonArray(before) || !isJsonArray(after)) {
    return { name, before: short(before), after: short(after) }
  }
  const side = (of: "before" | "after") => {
    const values = children.flatMap((child) => (child.state === "same" ? [] : [child[of]]))
    const texts = values.flatMap((value) => short(value) ?? [])
    return texts.length === 0 ? undefined : texts.join(", ")
  }
  return { name, before: side("before"), after: side("after") }
}

/** Changes to who may do what to which resource, which a reviewer has to see first. */
export const highlightsOf = (
  node: JsonNode,
  inPolicy = isPolicy(node.before) || isPolicy(node.after)
): ReadonlyArray<Highlight> => {
  if (!inPolicy || node.state === "same") return []
  const own = node.key !== undefined && policyKeys.has(node.key)
  const widens =
    node.key !== undefined && node.children === undefined && hasWildcard(node.after) !== hasWildcard(node.before)
  if (own || (widens && !isJsonObject(node.after) && !isJsonObject(node.before) && node.key !== "Statement")) {
    return [highlight(node)]
  }
  // A statement added or removed as a whole is treated like one whose members are added or removed.
  const children =
    node.children ??
    (isJsonObject(node.after ?? node.before)
      ? Object.entries(node.after ?? node.before ?? {}).map(([key, value]: [string, JsonValue]) =>
          node.state === "added"
            ? jsonTree(undefined, value, { key, inPolicy })
            : jsonTree(value, undefined, { key, inPolicy })
        )
      : [])
  return children.flatMap((child) => highlightsOf(child, inPolicy))
}
