import { addressInstant, boundedText, setOnly } from "../../words/AddressText.ts"

/** The filters of the activity in the form used in the page's address. */
export interface ActivitySearch {
  readonly capsule?: string | undefined
  readonly person?: string | undefined
  readonly action?: string | undefined
  readonly run?: string | undefined
  readonly from?: string | undefined
  readonly until?: string | undefined
}

export const activitySearch = (search: Record<string, unknown>): ActivitySearch => ({
  capsule: boundedText(search["capsule"], 80),
  person: boundedText(search["person"], 80),
  action: boundedText(search["action"], 80),
  run: boundedText(search["run"], 80),
  from: addressInstant(search["from"]),
  until: addressInstant(search["until"])
})

/** Converts the filters to parameters of the API. */
export const activityFilter = (search: ActivitySearch): Readonly<Record<string, string>> =>
  setOnly({
    capsuleId: search.capsule,
    actor: search.person,
    action: search.action,
    runId: search.run,
    since: search.from,
    until: search.until
  })
