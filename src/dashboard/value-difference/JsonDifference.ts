import { type Difference, type DifferenceLine, type Highlight, pathsAtMost, type Unit } from "./Difference.ts"
import { identityOf, isIdentityKey, pairElements, pairKeys } from "./JsonPairing.ts"
import { isJsonArray, isJsonObject, type JsonValue, canonicalText } from "./JsonValue.ts"
import { visibleText } from "../../../schema/records/VisibleText.ts"
import { wordDifference } from "./WordDifference.ts"

/**
 * A value on both sides, with its nested values. A value is `same` even if the items of a list without a meaningful order
 * are in a different order. `moved` means equal, but at a different position in an ordered list.
 */
interface JsonNode {
  /** The key in an object. Absent in a list. */
  readonly key: string | undefined
  /** The item's position in its list, counting from 0, on the side that contains the item. */
  readonly index: number | undefined
  readonly state: "same" | "changed" | "moved" | "added" | "removed"
  readonly before: JsonValue | undefined
  readonly after: JsonValue | undefined
  /** The members if both sides are objects, or the items if both are lists. */
  readonly children: ReadonlyArray<JsonNode> | undefined
  /** The previous position of an item that moved in an ordered list. */
  readonly movedFrom: number | undefined
  /** Number of nested items, in lists without a meaningful order, that only changed their position. */
  readonly reordered: number
}

/** Lists in an access policy whose order is meaningless. */
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
const jsonTree = (before: JsonValue | undefined, after: JsonValue | undefined, place?: Place): JsonNode => {
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

/** Returns the changes to permissions on resources, which a reviewer has to see first. */
const highlightsOf = (
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
  // If a whole statement is added or removed, treats each of its members as added or removed.
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

/** An item with at most this many lines is shown in full around its change. */
const wholeElement = 14
/** Lines of context around a change in a longer item. */
const context = 3
/** A longer run of unchanged lines is folded. */
const longestRun = 2

const indent = (depth: number) => "  ".repeat(depth)
const label = (key: string | undefined) => (key === undefined ? "" : `${JSON.stringify(key)}: `)

/** Placeholders for unknown and sensitive parts of a value. */
const marks: ReadonlySet<string> = new Set(["(known after apply)", "(sensitive value)"])

/** The size of a part that becomes unknown. */
const size = /^\(\d+ (?:items|keys)\)$/

const scalarText = (value: JsonValue, isText: boolean): string =>
  !isText && typeof value === "string" && (marks.has(value) || size.test(value)) ? value : JSON.stringify(value)

/** Formats a value as lines of indented JSON. */
const printed = (
  value: JsonValue,
  key: string | undefined,
  depth: number,
  comma: string,
  isText: boolean
): ReadonlyArray<string> => {
  const start = `${indent(depth)}${label(key)}`
  const entries: ReadonlyArray<readonly [string | undefined, JsonValue]> | undefined = isJsonArray(value)
    ? value.map((element) => [undefined, element] as const)
    : isJsonObject(value)
      ? Object.entries(value)
      : undefined
  if (entries === undefined) return [visibleText(`${start}${scalarText(value, isText)}${comma}`)]
  const [open, close] = isJsonArray(value) ? ["[", "]"] : ["{", "}"]
  if (entries.length === 0) return [visibleText(`${start}${open}${close}${comma}`)]
  return [
    visibleText(`${start}${open}`),
    ...entries.flatMap(([name, inner], index) =>
      printed(inner, name, depth + 1, index === entries.length - 1 ? "" : ",", isText)
    ),
    `${indent(depth)}${close}${comma}`
  ]
}

const unitOf = (node: JsonNode): Unit => {
  if (isJsonObject(node.after ?? node.before)) return "keys"
  return node.key === "Statement" ? "statements" : "items"
}

const pathOf = (ancestors: ReadonlyArray<string>, node: JsonNode): ReadonlyArray<string> => {
  const name = identityOf(node.after ?? node.before)
  const changed = node.children?.filter(({ state }) => state !== "same") ?? []
  const only = changed.length === 1 ? changed[0]?.key : undefined
  return [...ancestors, ...[name, only].filter((part) => part !== undefined)].map(visibleText)
}

/** Renders a tree. If `isText` is true, the value was a string. No part of a string is marked as unknown or sensitive. */
const draw = (root: JsonNode, isText: boolean): ReadonlyArray<DifferenceLine> => {
  let before = 0
  let after = 0
  /** True if a path has been rendered. After that, a change outside any item must be rendered with its own path. */
  let isLed = false
  const same = (lines: ReadonlyArray<string>): ReadonlyArray<DifferenceLine> =>
    lines.map((text) => ({ kind: "same", before: ++before, after: ++after, text }))
  const removed = (lines: ReadonlyArray<string>): ReadonlyArray<DifferenceLine> =>
    lines.map((text) => ({ kind: "removed", before: ++before, segments: [{ text, marked: false }] }))
  const added = (lines: ReadonlyArray<string>): ReadonlyArray<DifferenceLine> =>
    lines.map((text) => ({ kind: "added", after: ++after, segments: [{ text, marked: false }] }))

  const scalars = (node: JsonNode, depth: number, comma: string): ReadonlyArray<DifferenceLine> => {
    const of = (value: JsonValue | undefined) =>
      value === undefined ? [] : printed(value, node.key, depth, comma, isText)
    const [old, young] = [of(node.before), of(node.after)]
    const [first, second] = [old[0], young[0]]
    if (old.length !== 1 || young.length !== 1 || first === undefined || second === undefined) {
      return [...removed(old), ...added(young)]
    }
    const words = wordDifference(first, second)
    return [
      { kind: "removed", before: ++before, segments: words.before },
      { kind: "added", after: ++after, segments: words.after }
    ]
  }

  const children = (
    node: JsonNode,
    all: ReadonlyArray<JsonNode>,
    depth: number,
    path: ReadonlyArray<string>,
    inElement: boolean
  ) => {
    const lines: Array<DifferenceLine> = []
    const isObject = isJsonObject(node.after)
    const isShort = isObject && printed(node.after ?? null, undefined, 0, "", isText).length <= wholeElement
    const unit = unitOf(node)
    const drawnAt = (index: number): ReadonlyArray<DifferenceLine> => {
      const child = all[index]
      if (child === undefined) return []
      const comma = index === all.length - 1 ? "" : ","
      return nodeLines(child, depth, comma, path, inElement)
    }
    for (let at = 0; at < all.length; ) {
      if (all[at]?.state !== "same") {
        lines.push(...drawnAt(at++))
        continue
      }
      let end = at
      while (end < all.length && all[end]?.state === "same") end++
      const run = Array.from({ length: end - at }, (_, offset) => ({ index: at + offset, lines: drawnAt(at + offset) }))
      const near = new Set<number>()
      if (isObject) {
        // If an item changes, its name and the adjacent lines are shown with the change.
        for (const { index } of run) if (isIdentityKey(all[index]?.key ?? "")) near.add(index)
        const keep = (order: typeof run) => {
          let left = context
          for (const { index, lines } of order) {
            left -= lines.length
            if (left < 0) break
            near.add(index)
          }
        }
        if (at > 0) keep(run)
        if (end < all.length) keep(run.toReversed())
      }
      let hidden: Array<(typeof run)[number]> = []
      const flush = () => {
        const inside = hidden.flatMap(({ lines }) => lines)
        if (inside.length <= longestRun) lines.push(...inside)
        else lines.push({ kind: "fold", unit, count: hidden.length, lines: inside })
        hidden = []
      }
      for (const part of run) {
        if (isShort || near.has(part.index)) {
          flush()
          lines.push(...part.lines)
        } else hidden.push(part)
      }
      flush()
      at = end
    }
    return lines
  }

  const nodeLines = (
    node: JsonNode,
    depth: number,
    comma: string,
    path: ReadonlyArray<string>,
    inElement: boolean
  ): ReadonlyArray<DifferenceLine> => {
    const own = node.index === undefined ? path : [...path.slice(0, -1), `${path.at(-1) ?? ""}[${node.index + 1}]`]
    const isElement = node.index !== undefined && isJsonObject(node.after ?? node.before)
    const isChanged = node.state !== "same" && node.state !== "moved"
    const isOutside = isLed && !inElement && node.children === undefined && node.key !== undefined
    const lead: ReadonlyArray<DifferenceLine> = !isChanged
      ? []
      : isElement
        ? [{ kind: "path", path: pathOf(own, node) }]
        : isOutside
          ? [{ kind: "path", path: [...own, node.key].map(visibleText) }]
          : []
    isLed ||= lead.length > 0
    const moved: ReadonlyArray<DifferenceLine> =
      node.movedFrom === undefined || node.index === undefined
        ? []
        : [
            {
              kind: "moved",
              from: node.movedFrom + 1,
              to: node.index + 1,
              text: visibleText(identityOf(node.after) ?? scalarText(node.after ?? null, isText))
            }
          ]
    if (node.state === "same" || node.state === "moved") {
      return [...lead, ...moved, ...same(printed(node.after ?? null, node.key, depth, comma, isText))]
    }
    if (node.children === undefined) return [...lead, ...moved, ...scalars(node, depth, comma)]
    const [open, close] = isJsonArray(node.after) ? ["[", "]"] : ["{", "}"]
    const inner = node.key === undefined ? own : [...own, node.key]
    const start = same([visibleText(`${indent(depth)}${label(node.key)}${open}`)])
    const body = children(node, node.children, depth + 1, inner, inElement || isElement)
    return [...lead, ...moved, ...start, ...body, ...same([`${indent(depth)}${close}${comma}`])]
  }

  return nodeLines(root, 0, "", [], false)
}

/** The list or object whose members the heading counts: the innermost list or object that contains all changes. */
const measured = (node: JsonNode): JsonNode => {
  const changed = node.children?.filter(({ state }) => state !== "same") ?? []
  const [only] = changed
  if (changed.length !== 1 || only?.children === undefined || only.state === "same") return node
  return isJsonArray(node.after) ? node : measured(only)
}

const leaves = (node: JsonNode): ReadonlyArray<JsonNode> =>
  node.state === "same" ? [] : node.children === undefined ? [node] : node.children.flatMap(leaves)

const isScalar = (value: JsonValue | undefined) => value !== undefined && !isJsonArray(value) && !isJsonObject(value)

/** The path of each changed part. A list of scalars counts as one part. */
const pathsOf = (node: JsonNode, ancestors: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (node.state === "same") return []
  const own =
    node.index === undefined
      ? node.key === undefined
        ? ancestors
        : [...ancestors, node.key]
      : [...ancestors.slice(0, -1), `${ancestors.at(-1) ?? ""}[${node.index + 1}]`]
  const name = node.index === undefined ? undefined : identityOf(node.after ?? node.before)
  const path = name === undefined ? own : [...own, name]
  const changed = node.children?.filter(({ state }) => state !== "same") ?? []
  const isPart = changed.every(
    ({ after, before, children }) => children === undefined && (isScalar(after) || isScalar(before))
  )
  if (node.children === undefined || node.state === "moved" || (isJsonArray(node.after) && isPart)) {
    return [path.map(visibleText).join(" › ")]
  }
  return changed.flatMap((child) => pathsOf(child, path))
}

/** Compares two objects or lists, key by key or item by item. One side may be absent. */
export const jsonDifference = (
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  isText: boolean
): Difference => {
  const tree = jsonTree(before, after)
  const of = measured(tree)
  const counted = of.children ?? []
  const changed = leaves(tree)
  const isType = ({ after, before, state }: JsonNode) =>
    state === "changed" && isScalar(before) && isScalar(after) && String(before) === String(after)
  const lines = draw(tree, isText)
  const paths = tree.children === undefined ? [] : pathsOf(tree, [])
  const changedLines = (part: ReadonlyArray<DifferenceLine>): number =>
    part.filter(({ kind }) => kind === "removed" || kind === "added" || kind === "moved").length
  return {
    reading: "json",
    extent: {
      unit: unitOf(of),
      changed: counted.filter(({ state }) => state !== "same").length,
      added: counted.filter(({ state }) => state === "added").length,
      removed: counted.filter(({ state }) => state === "removed").length,
      total: counted.length
    },
    // A value that is added or removed as a whole is shown in full.
    highlights: tree.children === undefined ? [] : highlightsOf(tree),
    paths: paths.slice(0, pathsAtMost),
    pathCount: paths.length,
    reordered: tree.reordered,
    only:
      changed.length === 0 ? (tree.reordered > 0 ? "order" : "whitespace") : changed.every(isType) ? "type" : undefined,
    lines,
    changedLines: changedLines(lines)
  }
}
