const two = (part: number): string => String(part).padStart(2, "0")

/** The local day of an instant, in date field format. */
export const dayOf = (at: string): string => {
  const date = new Date(at)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** The local start of a day, or of the day `later` days after it; nothing for a field that is empty or incomplete. */
export const beginOfDay = (day: string, later = 0): string | undefined => {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (parts === null) return undefined
  const date = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
