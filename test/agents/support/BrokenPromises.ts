import { appliesHavePlans, capsulesAreTrue, nothingStays, runsAreOver } from "../../crash/Truth.ts"
import type { Cloud, Ledger } from "../../crash/Ledger.ts"

/** The evidence that is available after a world's programs have ended. */
export interface Witnessed {
  readonly ledger: Ledger
  readonly cloud: Cloud
  /** Ids of the Capsules, keyed by label. Notes are named after the label. */
  readonly capsules: ReadonlyMap<string, string>
  /** The places where a secret was found in plain text. */
  readonly secrets: ReadonlyArray<string>
}

const labelOf = (note: string) => note.slice(0, note.lastIndexOf("-"))

/** The server may offer an apply again only if its tool has not started. */
const toolsBeganOnce = (ledger: Ledger) =>
  ledger.runs.flatMap(({ id, type }) => {
    const begun = ledger.events.filter(({ data, run_id }) => run_id === id && data.phase === "apply").length
    return begun > 1 ? [`The tool of the ${type} ${id} began ${begun} times`] : []
  })

/**
 * Checks against the provider's record of created objects that nothing was created twice, and that every created object is
 * in a state or listed as possibly created.
 */
const creationsAreKnown = ({ capsules, cloud, ledger }: Witnessed) => {
  const inStates = new Set(ledger.states.flatMap(({ notes }) => notes))
  return [...new Set(cloud.created.map(({ name }) => name))].flatMap((name) => {
    const created = cloud.created.filter((one) => one.name === name)
    const capsuleId = capsules.get(labelOf(name))
    const last = name.slice(name.lastIndexOf("-") + 1)
    const addresses = [`demo_note.${last}`, `demo_note.many[${last}]`]
    const suspected = ledger.runs.some(
      ({ capsule_id, evidence: { possiblyCreated = [] } }) =>
        capsule_id === capsuleId && addresses.some((address) => possiblyCreated.includes(address))
    )
    const unknown = created.filter(({ id }) => !inStates.has(id))
    return [
      ...(created.length > 1 ? [`${name} was made ${created.length} times`] : []),
      ...(unknown.length > 0 && !suspected ? [`${name} exists, and nobody says so`] : [])
    ]
  })
}

/**
 * Checks that after a successful apply the Capsule's current state contains every existing object, and that no object exists
 * without an apply.
 */
const successIsWhole = ({ capsules, cloud, ledger }: Witnessed) =>
  [...capsules].flatMap(([label, capsuleId]) => {
    const present = cloud.created.filter(({ id, name }) => labelOf(name) === label && cloud.present.includes(id))
    const applies = ledger.runs.filter(
      ({ capsule_id, type }) => capsule_id === capsuleId && (type === "apply" || type === "destroy_apply")
    )
    const state = ledger.states.findLast((one) => one.capsuleId === capsuleId)
    const missing = present.filter(({ id }) => state?.notes.includes(id) !== true).map(({ name }) => name)
    const succeeded = applies.at(-1)?.status === "succeeded"
    return [
      ...(applies.length === 0 && present.length > 0 ? [`${label} has ${present.length} notes and no apply`] : []),
      ...(succeeded && state === undefined ? [`${label} was applied, and its state is lost`] : []),
      ...(succeeded && missing.length > 0 ? [`${label} was applied, and its state has no ${missing.join(", ")}`] : [])
    ]
  })

/** Checks that no object was created for a Capsule that is reported as unchanged. */
const untouchedIsTrue = ({ capsules, cloud, ledger }: Witnessed) =>
  [...capsules].flatMap(([label, capsuleId]) => {
    const capsule = ledger.capsules.find(({ id }) => id === capsuleId)
    const made = cloud.created.filter(({ name }) => labelOf(name) === label).map(({ name }) => name)
    const isSafe = capsule?.status === "pending" && capsule.runtime_safety === "safe"
    return isSafe && made.length > 0 ? [`${label} is said to be untouched, and has ${made.join(", ")}`] : []
  })

/** Returns a message for every broken guarantee. */
export const brokenPromises = (witnessed: Witnessed): ReadonlyArray<string> => {
  const { cloud, ledger, secrets } = witnessed
  return [
    ...ledger.integrity.map((problem) => `The database is damaged: ${JSON.stringify(problem)}`),
    ...runsAreOver(ledger),
    ...appliesHavePlans(ledger),
    ...toolsBeganOnce(ledger),
    ...capsulesAreTrue(ledger, cloud),
    ...nothingStays(ledger),
    ...creationsAreKnown(witnessed),
    ...successIsWhole(witnessed),
    ...untouchedIsTrue(witnessed),
    ...secrets.map((place) => `A secret is in ${place}`)
  ]
}
