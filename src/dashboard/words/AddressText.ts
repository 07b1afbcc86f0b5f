/** Returns a text value from the URL, even if the router has parsed it as a number. */
export const addressText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined

export const boundedText = (value: unknown, most: number): string | undefined => addressText(value)?.slice(0, most)

/** Returns the point in time in a URL parameter, or `undefined` if the parameter is invalid. */
export const addressInstant = (value: unknown): string | undefined => {
  const at = Date.parse(addressText(value) ?? "")
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

/** Returns the filter's fields that are set, with their values. */
export const setOnly = (named: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
