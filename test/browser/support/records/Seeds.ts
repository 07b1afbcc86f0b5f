const start = Date.parse("2026-11-20T09:00:00.000Z")

/** Returns the time this many minutes ago. */
export const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()

/** Copies a record without some of its fields. */
export const without = <A extends object, K extends keyof A>(record: A, ...keys: ReadonlyArray<K>): Omit<A, K> => {
  const copy = { ...record }
  for (const key of keys) Reflect.deleteProperty(copy, key)
  return copy
}

let count = 0

export const newId = (prefix: string): string => {
  count += 1
  return `${prefix}_${(start + count).toString(36).padStart(16, "0")}${count.toString(36).padStart(4, "0")}`
}

export const commit = (seed: number): string => seed.toString(16).padStart(8, "a").repeat(5)

export const commitDescription = {
  title: "Deny the legacy export and rotate the signing key",
  body: "Nobody has read the export since March.",
  authorName: "Aiko Tanaka",
  authoredAt: ago(180)
}

export const digest = (seed: number): string => `sha256:${seed.toString(16).padStart(8, "c").repeat(8)}`

export const text = (en: string, ja: string) => ({ en, ja })
