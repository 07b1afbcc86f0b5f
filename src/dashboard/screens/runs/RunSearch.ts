import { addressInstant, addressText, boundedText, setOnly } from "../../words/AddressText.ts"
import { runStatuses, runTriggers, runTypes } from "./RunChoices.ts"

/** The filters of the list, as stored in the URL, so that a link shows everybody the same list. */
export interface RunSearch {
  readonly q?: string | undefined
  readonly capsule?: string | undefined
  readonly person?: string | undefined
  readonly type?: string | undefined
  readonly status?: string | undefined
  readonly trigger?: string | undefined
  /** A point in time, because days begin at different times in different time zones. */
  readonly from?: string | undefined
  readonly until?: string | undefined
}

/**
 * Keeps only words that the API accepts, without duplicates. If any other word were sent, the page would show an error
 * instead of the list.
 */
const known = (value: unknown, words: ReadonlyArray<string>): string | undefined => {
  const chosen = new Set((addressText(value) ?? "").split(",").filter((word) => words.includes(word)))
  return chosen.size === 0 ? undefined : [...chosen].join(",")
}

export const runSearch = (search: Record<string, unknown>): RunSearch => ({
  q: boundedText(search["q"], 200),
  capsule: boundedText(search["capsule"], 80),
  person: boundedText(search["person"], 80),
  type: known(search["type"], runTypes),
  status: known(search["status"], runStatuses),
  trigger: known(search["trigger"], runTriggers),
  from: addressInstant(search["from"]),
  until: addressInstant(search["until"])
})

export const isFiltered = (search: RunSearch): boolean => Object.values(search).some((value) => value !== undefined)

/**
 * Returns true if the list shows all Runs of a change together. Any of these filters may match only some of a change's Runs.
 */
export const showsChanges = ({ person, q, status, trigger, type }: RunSearch): boolean =>
  [person, q, status, trigger, type].every((value) => value === undefined)

/** The filters, keyed by their names in the API. */
export const filterOf = (search: RunSearch): Readonly<Record<string, string>> =>
  setOnly({
    search: search.q,
    capsuleId: search.capsule,
    actor: search.person,
    type: search.type,
    status: search.status,
    trigger: search.trigger,
    since: search.from,
    until: search.until
  })
