type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** The address of a request; parameters without a value are left out. */
export const apiUrl = (path: string, query: Query = {}): string => {
  const parameters = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") parameters.set(key, String(value))
  }
  const encoded = parameters.toString()
  return encoded === "" ? path : `${path}?${encoded}`
}
