import { canonicalText, isJsonArray, isJsonObject, type JsonValue } from "./JsonValue.ts"

/** Members that identify an item of a list, with the most distinctive first. */
const identityKeys = ["Sid", "Id", "id", "name", "key"] as const

const identityAt = (value: JsonValue | undefined, key: string): string | undefined => {
  if (!isJsonObject(value)) return undefined
  const identity = value[key]
  return typeof identity === "string" || typeof identity === "number" ? String(identity) : undefined
}

/** Returns the name that identifies an item of a list. */
export const identityOf = (value: JsonValue | undefined): string | undefined => {
  for (const key of identityKeys) {
    const identity = identityAt(value, key)
    if (identity !== undefined) return identity
  }
  return undefined
}

export const isIdentityKey = (key: string): boolean => identityKeys.some((known) => known === key)

/** The positions of an item on both sides. An item on only one side has been removed or added. */
export interface ElementPair {
  readonly before: number | undefined
  readonly after: number | undefined
}

/** Returns the member that identifies every item on both sides without duplicates. */
const sharedIdentity = (before: ReadonlyArray<JsonValue>, after: ReadonlyArray<JsonValue>): string | undefined =>
  identityKeys.find((key) =>
    [before, after].every((side) => {
      const names = side.map((value) => identityAt(value, key))
      return names.every((name) => name !== undefined) && new Set(names).size === names.length
    })
  )

/** The longest ascending subsequence of the numbers, which contains the items that did not move. */
const longestAscending = (numbers: ReadonlyArray<number>): ReadonlySet<number> => {
  const tails: Array<number> = []
  const previous = new Map<number, number | undefined>()
  for (const [index, number] of numbers.entries()) {
    let low = 0
    let high = tails.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[tails[middle] ?? 0] ?? 0) < number) low = middle + 1
      else high = middle
    }
    previous.set(index, low === 0 ? undefined : tails[low - 1])
    tails[low] = index
  }
  const kept = new Set<number>()
  for (let at = tails.at(-1); at !== undefined; at = previous.get(at)) kept.add(numbers[at] ?? 0)
  return kept
}

/**
 * Pairs the items of two lists by the member that identifies them. If there is none, pairs equal items, and then items at
 * the same position. The result follows the order of the new list, with each removed item after its predecessor.
 */
export const pairElements = (
  before: ReadonlyArray<JsonValue>,
  after: ReadonlyArray<JsonValue>
): { readonly pairs: ReadonlyArray<ElementPair>; readonly moved: ReadonlySet<number> } => {
  const oldOf = new Map<number, number>()
  const free = new Set(before.keys())
  const take = (old: number | undefined, young: number) => {
    if (old === undefined) return
    oldOf.set(young, old)
    free.delete(old)
  }
  const byText = (text: (value: JsonValue) => string) => {
    const places = new Map<string, Array<number>>()
    for (const old of free) {
      const key = text(before[old] ?? null)
      places.set(key, [...(places.get(key) ?? []), old])
    }
    for (const [young, value] of after.entries()) if (!oldOf.has(young)) take(places.get(text(value))?.shift(), young)
  }
  const identity = sharedIdentity(before, after)
  if (identity !== undefined) byText((value) => identityAt(value, identity) ?? "")
  else {
    byText(canonicalText)
    for (const young of after.keys()) {
      // An unpaired item is compared with the item at the same position if both are of the same kind.
      const old = free.has(young) ? young : undefined
      if (oldOf.has(young) || old === undefined) continue
      const isAlike =
        isJsonObject(before[old]) === isJsonObject(after[young]) &&
        isJsonArray(before[old]) === isJsonArray(after[young])
      if (isAlike) take(old, young)
    }
  }
  const still = longestAscending([...after.keys()].flatMap((young) => oldOf.get(young) ?? []))
  const moved = new Set([...oldOf.values()].filter((old) => !still.has(old)))
  const followers = new Map<number, Array<number>>()
  for (const old of free) {
    let leader = old - 1
    while (leader >= 0 && free.has(leader)) leader--
    followers.set(leader, [...(followers.get(leader) ?? []), old])
  }
  const removed = (leader: number): ReadonlyArray<ElementPair> =>
    (followers.get(leader) ?? []).map((old) => ({ before: old, after: undefined }))
  const pairs: Array<ElementPair> = [...removed(-1)]
  for (const young of after.keys()) {
    const old = oldOf.get(young)
    pairs.push({ before: old, after: young })
    if (old !== undefined) pairs.push(...removed(old))
  }
  return { pairs, moved }
}

/**
 * Returns the keys of both sides in the order of the new side. Each removed key follows the key that preceded it on the old
 * side.
 */
export const pairKeys = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<string> => {
  const kept = new Set(after)
  const followers = new Map<string, Array<string>>()
  let leader = ""
  const first: Array<string> = []
  for (const key of before) {
    if (kept.has(key)) leader = key
    else if (leader === "") first.push(key)
    else followers.set(leader, [...(followers.get(leader) ?? []), key])
  }
  return [...first, ...after.flatMap((key) => [key, ...(followers.get(key) ?? [])])]
}
