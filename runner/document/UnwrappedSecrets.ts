import { Effect, Redacted } from "effect"
import { defineMember } from "./DocumentPieces.ts"

type Place = ReadonlyArray<string>

/** A value as transferred between threads, with its secrets unwrapped. `places` lists the positions of the secrets. */
export interface Unwrapped<A> {
  readonly value: A
  readonly places: ReadonlyArray<Place>
}

type Container = Record<string, unknown>

const isContainer = (value: unknown): value is Container =>
  typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !Redacted.isRedacted(value)

/** Unwraps the secrets in place, so no other code may use the value. A secret must not contain other secrets. */
export const unwrapSecrets = <A>(value: A): Unwrapped<A> => {
  const places: Array<Place> = []
  const open: Array<readonly [unknown, Place]> = [[value, []]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [container, place] = next
    if (!isContainer(container)) continue
    for (const key of Object.keys(container)) {
      const member = container[key]
      if (Redacted.isRedacted(member)) {
        places.push([...place, key])
        defineMember(container, key, Redacted.value(member))
      } else if (isContainer(member)) open.push([member, [...place, key]])
    }
  }
  return { value, places }
}

/** Number of secrets to wrap at once. Wrapping this many takes less than a millisecond. */
const wrappedAtOnce = 1000

/** Wraps the secrets of a value again. */
export const wrapSecrets = Effect.fnUntraced(function* <A>({ places, value }: Unwrapped<A>) {
  for (const [index, place] of places.entries()) {
    let container: unknown = value
    for (const key of place.slice(0, -1)) container = isContainer(container) ? container[key] : undefined
    const last = place.at(-1)
    if (isContainer(container) && last !== undefined) defineMember(container, last, Redacted.make(container[last]))
    if (index % wrappedAtOnce === wrappedAtOnce - 1) yield* Effect.yieldNow
  }
  return value
})
