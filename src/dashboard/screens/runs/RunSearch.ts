import { runStatuses, runTriggers, runTypes } from "./RunChoices.ts"

/** The filters of the list, as its address carries them: a link shows the same list to everybody. */
export interface RunSearch {
  readonly q?: string | undefined
  readonly capsule?: string | undefined
  readonly person?: string | undefined
  readonly type?: string | undefined
  readonly status?: string | undefined
  readonly trigger?: string | undefined
  /** An instant, since days begin at another time elsewhere. */
  readonly from?: string | undefined
  readonly until?: string | undefined
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined

/** Only words that the API knows, each once: a link with others would show a fault instead of a list. */
const known = (value: unknown, words: ReadonlyArray<string>): string | undefined => {
  const chosen = new Set((text(value) ?? "").split(",").filter((word) => words.includes(word)))
  return chosen.size === 0 ? undefined : [...chosen].join(",")
}

const instant = (value: unknown): string | undefined => {
  const at = Date.parse(text(value) ?? "")
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

const bounded = (value: unknown, most: number): string | undefined => text(value)?.slice(0, most)

export const runSearch = (search: Record<string, unknown>): RunSearch => ({
  q: bounded(search["q"], 200),
  capsule: bounded(search["capsule"], 80),
  person: bounded(search["person"], 80),
  type: known(search["type"], runTypes),
  status: known(search["status"], runStatuses),
  trigger: known(search["trigger"], runTriggers),
  from: instant(search["from"]),
  until: instant(search["until"])
})

export const isFiltered = (search: RunSearch): boolean => Object.values(search).some((value) => value !== undefined)

/** Whether whole changes are shown: other filters may fit one Run of a change and not another. */
export const showsChanges = ({ person, q, status, trigger, type }: RunSearch): boolean =>
  [person, q, status, trigger, type].every((value) => value === undefined)

/** The filters in the names of the API. */
export const filterOf = (search: RunSearch): Readonly<Record<string, string>> => {
  const named = {
    search: search.q,
    capsuleId: search.capsule,
    actor: search.person,
    type: search.type,
    status: search.status,
    trigger: search.trigger,
    since: search.from,
    until: search.until
  }
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )
}

const two = (part: number): string => String(part).padStart(2, "0")

/** The day of an instant here, as a date field has it. */
export const dayOf = (at: string): string => {
  const date = new Date(at)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** When a day begins here, or the day `later` days after it; nothing for a field that is empty or half typed. */
export const beginOfDay = (day: string, later = 0): string | undefined => {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (parts === null) return undefined
  const date = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
