import type { Difference, ValuePair } from "./Difference.ts"
import { jsonDifference } from "./JsonDifference.ts"
import { structureOf } from "./JsonValue.ts"
import { lineDifference } from "./LineDifference.ts"
import { visibleText } from "../../../schema/records/VisibleText.ts"
import { wordDifference } from "./WordDifference.ts"

/** Attributes whose values are base64 by their provider's convention. */
const encodedNames = /^(?:user_data(?:_base64)?|.*_base64)$/
const base64 = /^[A-Za-z0-9+/]+={0,2}$/

const decoded = (text: string): string | undefined => {
  const compact = text.replace(/\s+/g, "")
  if (compact === "" || compact.length % 4 !== 0 || !base64.test(compact)) return undefined
  const bytes = Uint8Array.from(atob(compact), (character) => character.charCodeAt(0))
  try {
    const plain = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    // A value with control characters is not human-readable text.
    return /[^\P{Cc}\s]/u.test(plain) ? undefined : plain
  } catch {
    return undefined
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""))

const words = (before: string, after: string): Difference => {
  const difference = wordDifference(visibleText(before), visibleText(after))
  return {
    reading: "words",
    extent: { unit: "lines", changed: 1, added: 0, removed: 0, total: 1 },
    highlights: [],
    paths: [],
    pathCount: 0,
    reordered: 0,
    only: before.replace(/\s+/g, "") === after.replace(/\s+/g, "") ? "whitespace" : undefined,
    lines: [
      { kind: "removed", before: 1, segments: difference.before },
      { kind: "added", after: 1, segments: difference.after }
    ],
    changedLines: 2
  }
}

/** A value on only one side has the same layout, but without folds. */
const oneSide = (before: unknown, after: unknown, name: string): Difference => {
  const value = after ?? before
  const tree = structureOf(value)
  if (tree !== undefined) {
    return after === undefined
      ? jsonDifference(tree, undefined, typeof value === "string")
      : jsonDifference(undefined, tree, typeof value === "string")
  }
  const text = textOf(value)
  const plain = encodedNames.test(name) && typeof value === "string" ? decoded(text) : undefined
  return after === undefined
    ? lineDifference(plain ?? text, undefined, plain === undefined ? "text" : "base64")
    : lineDifference(undefined, plain ?? text, plain === undefined ? "text" : "base64")
}

/**
 * Compares two values in the most informative format: by structure if both sides are objects or lists, or strings that
 * contain an object or list; as decoded text for base64 attributes; by lines if either side has several lines; and by words
 * otherwise.
 */
export const valueDifference = ({ after, before, name }: ValuePair): Difference => {
  if (before === undefined || after === undefined) return oneSide(before, after, name)
  const [oldTree, newTree] = [structureOf(before), structureOf(after)]
  if (oldTree !== undefined && newTree !== undefined && Array.isArray(oldTree) === Array.isArray(newTree)) {
    return jsonDifference(oldTree, newTree, typeof after === "string")
  }
  const [old, young] = [textOf(before), textOf(after)]
  if (encodedNames.test(name) && typeof before === "string" && typeof after === "string") {
    const [plainOld, plainNew] = [decoded(before), decoded(after)]
    if (plainOld !== undefined && plainNew !== undefined) return lineDifference(plainOld, plainNew, "base64")
  }
  if (old.includes("\n") || young.includes("\n")) return lineDifference(old, young, "text")
  return words(old, young)
}
