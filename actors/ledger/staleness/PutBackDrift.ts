import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import type { ResourceChange } from "../../../schema/records/PlanDetails.ts"

type Attribute = ResourceChange["changedAttributes"][number]

/** A placeholder for a value: two equal placeholders may stand for different values. */
const isNoted = (value: Attribute["before"]) =>
  /\(sensitive value\)|\(known after apply\)|characters, too long to show\)/.test(JSON.stringify(value ?? null))

/** Whether a plan returns an attribute to the value it had before it was changed outside. */
const isRestored = (planned: Attribute, drifted: Attribute) =>
  planned.sensitive !== true &&
  drifted.sensitive !== true &&
  planned.unknown !== true &&
  !isNoted(drifted.before) &&
  canonicalJson(planned.after ?? null) === canonicalJson(drifted.before ?? null)

export interface DriftedAttributes {
  /** The plan restores exactly this value. */
  readonly certain: ReadonlySet<string>
  /** Also changed outside, but the plan changes it to a different value, or to one that is not shown. */
  readonly possible: ReadonlySet<string>
}

/** Which changed attributes of a resource were also changed outside. */
export const driftedAttributes = (change: ResourceChange, drift: ResourceChange | undefined): DriftedAttributes => {
  const certain = new Set<string>()
  const possible = new Set<string>()
  for (const planned of change.changedAttributes) {
    const drifted = drift?.changedAttributes.find(({ name }) => name === planned.name)
    if (drifted !== undefined) (isRestored(planned, drifted) ? certain : possible).add(planned.name)
  }
  return { certain, possible }
}

/**
 * Whether drift is the only reason why a resource is in the plan: it was deleted outside and is being created again, or every
 * changed attribute is reverted.
 */
export const isPutBack = (change: ResourceChange, drift: ResourceChange | undefined): boolean => {
  if (drift === undefined) return false
  const isOnly = (of: ResourceChange, action: string) => of.actions.length === 1 && of.actions[0] === action
  if (isOnly(drift, "delete")) return isOnly(change, "create")
  if (!change.actions.includes("update")) return false
  const known = change.changedAttributes.filter(
    ({ name, unknown }) => unknown !== true || change.references?.some(({ attribute }) => attribute === name) === true
  )
  return known.length > 0 && driftedAttributes(change, drift).certain.size === known.length
}
