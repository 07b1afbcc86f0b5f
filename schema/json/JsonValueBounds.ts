import type { Schema } from "effect"
import type { JsonValueLimits } from "./JsonLimits.ts"

/** The limit that a parsed value exceeds. */
export type JsonValueExcess = "too_deep" | "too_many_nodes" | "key_too_long" | "string_too_long"

const encoder = new TextEncoder()

const longerThan = (text: string, maxBytes: number) =>
  text.length > maxBytes || (text.length * 3 > maxBytes && encoder.encode(text).byteLength > maxBytes)

const isArray = (value: Schema.Json): value is ReadonlyArray<Schema.Json> => Array.isArray(value)

/**
 * Checks a parsed value, such as a field with narrower limits than the body. The walk is iterative and stops at the first
 * exceeded limit. Depth is the number of open arrays and objects, as in `JsonLimits`.
 */
export const exceedsJsonLimits = (root: Schema.Json, limits: Partial<JsonValueLimits>): JsonValueExcess | undefined => {
  const { maxDepth = Infinity, maxKeyBytes = Infinity, maxNodes = Infinity, maxStringBytes = Infinity } = limits
  let nodes = 0
  const pending: Array<readonly [value: Schema.Json, depth: number]> = [[root, 0]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, depth] = next
    nodes++
    if (nodes > maxNodes) return "too_many_nodes"
    if (typeof value === "string" && longerThan(value, maxStringBytes)) return "string_too_long"
    if (typeof value !== "object" || value === null) continue
    if (depth >= maxDepth) return "too_deep"
    if (isArray(value)) {
      for (const item of value) pending.push([item, depth + 1])
    } else {
      for (const [key, item] of Object.entries(value)) {
        if (longerThan(key, maxKeyBytes)) return "key_too_long"
        pending.push([item, depth + 1])
      }
    }
  }
  return undefined
}
