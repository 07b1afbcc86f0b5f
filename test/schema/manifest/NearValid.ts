import * as fc from "fast-check"
import { anyText } from "../../support/AnyText.ts"

type Path = ReadonlyArray<string | number>

const pathsOf = (value: unknown, path: Path = []): ReadonlyArray<Path> => {
  if (Array.isArray(value)) return [path, ...value.flatMap((item, index) => pathsOf(item, [...path, index]))]
  if (typeof value !== "object" || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]))]
}

/** Returns the document with `change` applied at `path`. A value changed to `undefined` is removed. */
const changed = (value: unknown, [key, ...rest]: Path, change: (old: unknown) => unknown): unknown => {
  if (key === undefined) return change(value)
  if (Array.isArray(value)) {
    const items: ReadonlyArray<unknown> = value
    return items.flatMap((item, index) => {
      if (index !== key) return [item]
      const next = changed(item, rest, change)
      return next === undefined ? [] : [next]
    })
  }
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      if (name !== key) return [[name, item]]
      const next = changed(item, rest, change)
      return next === undefined ? [] : [[name, next]]
    })
  )
}

const strings = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "a ",
    "a\n",
    ".",
    "..",
    "./a",
    "/a",
    "a//b",
    "a\\b",
    "openid",
    "env",
    "user",
    "http.endpoint"
  ),
  fc.constantFrom(
    "x".repeat(65),
    "x".repeat(129),
    "x".repeat(161),
    "x".repeat(257),
    "x".repeat(1025),
    "x".repeat(4097)
  ),
  anyText(12)
)
const values = fc.oneof(strings, fc.constantFrom(null, true, 0, 15, 65, 1.5, -1), fc.constant([]), fc.constant({}))

const grown = (old: unknown) => {
  if (typeof old === "string") return old.repeat(300)
  if (Array.isArray(old)) return Array.from({ length: 130 }, () => structuredClone(old[0] ?? 1))
  return typeof old === "object" && old !== null
    ? { ...old, ...Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`x${at}`, 1])) }
    : old
}

const mutations: fc.Arbitrary<(old: unknown) => unknown> = fc.oneof(
  fc.constant(() => undefined),
  values.map((value) => () => value),
  fc.constant(grown),
  fc.tuple(strings, values).map(
    ([key, value]) =>
      (old: unknown) =>
        typeof old === "object" && old !== null && !Array.isArray(old) ? { ...old, [key]: value } : [old]
  ),
  fc.constant((old: unknown) => (Array.isArray(old) ? [...old, ...old] : [old, old])),
  fc.constant((old: unknown) => (typeof old === "string" ? ` ${old}` : String(old)))
)

/**
 * Generates documents that differ from a valid document in one to three places: a member is dropped, retyped, oversized,
 * duplicated or renamed.
 */
export const nearValid = (document: unknown): fc.Arbitrary<unknown> =>
  fc.array(fc.tuple(fc.nat(), mutations), { minLength: 1, maxLength: 3 }).map((steps) =>
    steps.reduce((current: unknown, [choice, mutate]) => {
      const paths = pathsOf(current)
      return changed(current, paths[choice % paths.length] ?? [], mutate) ?? null
    }, document)
  )
