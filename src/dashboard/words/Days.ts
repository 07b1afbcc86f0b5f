const two = (part: number): string => String(part).padStart(2, "0")

/** The local day of a point in time, in the format of a date field. */
export const dayOf = (at: string): string => {
  const date = new Date(at)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** The local start of a day, or of the day `later` days after it. Returns `undefined` for an empty or incomplete field. */
export const beginOfDay = (day: string, later = 0): string | undefined => {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (parts === null) return undefined
  const date = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
