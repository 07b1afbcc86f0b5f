import type { Acknowledged } from "./Acknowledged.ts"
import type { Cloud, Ledger, RunRecord } from "./Ledger.ts"

const isApply = ({ type }: RunRecord) => type === "apply" || type === "destroy_apply"

/** Returns true if the Run performs a reviewed restore. */
const isRestore = ({ state_version_id, type }: RunRecord) => type === "restore" && state_version_id !== null

const statusAfter = { apply: "active", destroy_apply: "destroyed", restore: "stale" } as const

const endings = new Set([
  "run.succeeded",
  "run.failed",
  "run.cancelled",
  "run.superseded",
  "run.expired",
  "run.approved"
])

/** Checks that the numbers are consecutive: first, first + 1, ... */
const isContiguous = (spans: ReadonlyArray<{ readonly from: number; readonly to: number }>) =>
  spans.every(({ from }, index) => from === (spans[index - 1]?.to ?? 0) + 1)

/** Checks that no result reported to a client is lost. */
const acknowledgedIsThere = (ledger: Ledger, acknowledged: Acknowledged) => {
  const runs = new Map(ledger.runs.map((run) => [run.id, run]))
  const missing = (kind: string, wanted: Iterable<string>, there: (id: string) => boolean) =>
    [...wanted].filter((id) => !there(id)).map((id) => `The acknowledged ${kind} ${id} is lost`)
  return [
    ...missing("Run", acknowledged.runs, (id) => runs.has(id)),
    ...missing("approval of", acknowledged.approved, (id) => runs.get(id)?.approved_at !== null),
    ...missing("Capsule", acknowledged.capsules, (id) => ledger.capsules.some((capsule) => capsule.id === id)),
    ...missing("install plan", acknowledged.installPlans, (id) => ledger.installPlans.some((plan) => plan.id === id))
  ]
}

/** Checks that reading a Run's events again returns the same events as before. */
const eventsStay = (ledger: Ledger, acknowledged: Acknowledged) =>
  [...acknowledged.events].flatMap(([runId, kinds]) => {
    const told = new Map(
      ledger.events.filter(({ run_id }) => run_id === runId).map(({ kind, seq }) => [seq, kind] as const)
    )
    return kinds.flatMap((kind, index) =>
      told.get(index + 1) === kind
        ? []
        : [`Event ${index + 1} of ${runId} was ${kind} and is ${told.get(index + 1) ?? "lost"}`]
    )
  })

/**
 * Checks that every Run has ended, that its end is reported once, that its events have no gaps, and that data for running Runs is
 * deleted.
 */
export const runsAreOver = (ledger: Ledger) =>
  ledger.runs.flatMap((run) => {
    const events = ledger.events.filter((event) => event.run_id === run.id)
    const chunks = ledger.chunks.filter((chunk) => chunk.run_id === run.id)
    const ended = events.filter(({ kind }) => endings.has(kind)).length
    const superseded = events.some(({ kind }) => kind === "run.superseded")
    return [
      ...(run.status === "queued" || run.status === "running" ? [`${run.type} ${run.id} is still ${run.status}`] : []),
      ...(run.owner === null ? [] : [`${run.type} ${run.id} is over and has an owner`]),
      ...(isContiguous(events.map(({ seq }) => ({ from: seq, to: seq }))) ? [] : [`Events of ${run.id} have a gap`]),
      ...(isContiguous(chunks.map(({ first_seq, last_seq }) => ({ from: first_seq, to: last_seq })))
        ? []
        : [`Log lines of ${run.id} have a gap`]),
      ...(run.status === "waiting_approval" || ended === 1 || (ended === 2 && superseded)
        ? []
        : [`${run.type} ${run.id} is told to have ended ${ended} times`])
    ]
  })

/** Checks that each apply ran with an approval of its plan. */
export const appliesHavePlans = (ledger: Ledger) =>
  ledger.runs.filter(isApply).flatMap(({ id }) => {
    const plans = ledger.runs.filter(({ used_by_run_id }) => used_by_run_id === id)
    return plans.length === 1 && plans[0]?.approved_at !== null ? [] : [`${id} has no reviewed plan of its own`]
  })

/** Checks that no apply ran twice. */
const appliesRanOnce = (ledger: Ledger) =>
  ledger.runs.filter(isApply).flatMap(({ attempt, id }) => {
    const starts = ledger.events.filter(({ kind, run_id }) => run_id === id && kind === "run.applying").length
    return attempt <= 1 && starts <= 1 ? [] : [`${id} was started ${Math.max(attempt, starts)} times`]
  })

/**
 * Checks that each real creation belongs to one started apply, and that its object is in a state or listed as possibly created.
 */
const creationsAreKnown = (ledger: Ledger, cloud: Cloud) => {
  const applies = ledger.runs.filter(isApply)
  const inStates = new Set(ledger.states.flatMap(({ notes }) => notes))
  return [...new Set(cloud.created.map(({ name }) => name))].flatMap((name) => {
    const address = `demo_note.${name}`
    const created = cloud.created.filter((creation) => creation.name === name)
    const orphans = created.filter(({ id }) => !inStates.has(id))
    const suspected = applies.filter(({ evidence }) => evidence.possiblyCreated?.includes(address) === true).length
    return [
      ...(created.length <= applies.filter(({ type }) => type === "apply").length
        ? []
        : [`${name} was created ${created.length} times`]),
      ...(created.length - orphans.length <= 1 ? [] : [`${name} was created twice although its state was kept`]),
      ...(orphans.length <= suspected
        ? []
        : [`${orphans.length} of ${name} exist that no state knows, and ${suspected} applies say so`])
    ]
  })
}

/** Checks that the Capsule's status, epoch, generation, pointer and runtimeSafety follow from its applies and states. */
export const capsulesAreTrue = (ledger: Ledger, cloud: Cloud) =>
  ledger.capsules.flatMap((capsule) => {
    const own = ledger.runs.filter(({ capsule_id }) => capsule_id === capsule.id)
    const last = own.filter((run) => isApply(run) || isRestore(run)).at(-1)
    const restores = own.filter(isRestore)
    const states = ledger.states.filter(({ capsuleId }) => capsuleId === capsule.id)
    const newest = states.at(-1)
    const succeeded = last?.status === "succeeded"
    const after = Object.entries(statusAfter).find(([type]) => type === last?.type)?.[1]
    const expected = last === undefined ? "pending" : succeeded ? after : undefined
    const safety = last?.type === "restore" ? "unknown" : "safe"
    const told = ledger.restored.filter(({ id }) => id === capsule.id).length
    const released = capsule.status === "released"
    // A restore, a release and the confirmation of an import each advance the epoch.
    const moved = restores.length + (released || capsule.import_confirmed_at !== null ? 1 : 0)
    const lost = (newest?.notes ?? []).filter((id) => !cloud.present.includes(id))
    return [
      ...(capsule.execution_authority_epoch === 1 + moved
        ? []
        : [`The epoch is ${capsule.execution_authority_epoch}, and moved ${moved} times`]),
      ...(told === restores.length ? [] : [`${told} restores are in the history, and ${restores.length} happened`]),
      ...(capsule.current_state_generation === states.length &&
      states.every(({ generation }, index) => generation === index + 1)
        ? []
        : [`The generation is ${capsule.current_state_generation} after ${states.length} states`]),
      ...(capsule.current_state_version_id === (newest?.id ?? null)
        ? []
        : ["The state pointer is not at the newest state"]),
      ...(expected === undefined || released || capsule.status === expected
        ? []
        : [`The Capsule is ${capsule.status}, not ${expected}`]),
      ...(!succeeded || capsule.runtime_safety === safety
        ? []
        : [`runtimeSafety is ${capsule.runtime_safety} after a success`]),
      ...(!succeeded || lost.length === 0 ? [] : [`The state tells of ${lost.join(", ")}, which do not exist`])
    ]
  })

/**
 * Checks that an uploaded state exists exactly once: sealed until its install, or as the StateVersion of one Capsule. A
 * failed install must not keep the uploaded state.
 */
const uploadsAreInOnePlace = (ledger: Ledger) =>
  ledger.uploads.flatMap(({ has_state, id, is_used, plan_phase, versions }) => [
    ...(is_used === versions && has_state === 1 - is_used
      ? []
      : [`The upload ${id} is ${is_used === 1 ? "used" : "waiting"}, with ${versions} StateVersions`]),
    ...(plan_phase === "failed" ? [`A failed install holds the upload ${id}`] : [])
  ])

/** Checks that every delivery is in the history, and that each entry without a delivery was caused by a kill. */
const exportsAreRecorded = (ledger: Ledger, { exports: { downloaded, granted } }: Acknowledged, kills: number) => {
  const recorded = (action: string) => ledger.exports.find((each) => each.action === action)?.count ?? 0
  const links = recorded("capsule.export")
  const downloads = recorded("capsule.export_download")
  return [
    ...(links < granted || downloads < downloaded
      ? [`${granted} links and ${downloaded} archives were handed out, ${links} and ${downloads} are recorded`]
      : []),
    ...(links + downloads - granted - downloaded > kills
      ? [`${links} links and ${downloads} downloads are recorded, of which ${granted} and ${downloaded} were received`]
      : [])
  ]
}

/** Checks that every sealed value is still needed. */
export const nothingStays = (ledger: Ledger) => [
  ...ledger.installPlans
    .filter(
      ({ phase, private_variables }) =>
        private_variables !== null &&
        phase !== "syncing_source" &&
        phase !== "analyzing_compatibility" &&
        phase !== "creating_capsule"
    )
    .map(({ id }) => `The install plan ${id} still holds private values`),
  // If a kill truncates a state, the truncated state is kept for inspection as a left-over state.
  ...ledger.checkpoints.map(({ id }) => `A checkpoint of ${id} stayed`),
  ...ledger.plans
    .filter(({ id }) => {
      const run = ledger.runs.find((candidate) => candidate.id === id)
      return run?.status !== "waiting_approval" && !(run?.status === "succeeded" && run.used_by_run_id === null)
    })
    .map(({ id }) => `The saved plan of ${id} stayed`)
]

/**
 * Checks that each successful apply of a module with operator checks ran the checks, no matter when processes were killed.
 */
export const uncheckedSuccesses = (ledger: Ledger): ReadonlyArray<string> =>
  ledger.runs
    .filter(({ status, type }) => type === "apply" && status === "succeeded")
    .filter(
      ({ evidence: { postApply = [] } }) =>
        postApply.length === 0 || postApply.some(({ status }) => status !== "passed")
    )
    .map(({ id }) => `${id} succeeded without the checks after it`)

/** Lists every guarantee that a journey broke. */
export const untruths = (
  ledger: Ledger,
  cloud: Cloud,
  acknowledged: Acknowledged,
  kills: number
): ReadonlyArray<string> => [
  ...ledger.integrity.map((problem) => `The database is damaged: ${JSON.stringify(problem)}`),
  ...acknowledgedIsThere(ledger, acknowledged),
  ...eventsStay(ledger, acknowledged),
  ...runsAreOver(ledger),
  ...appliesHavePlans(ledger),
  ...appliesRanOnce(ledger),
  ...creationsAreKnown(ledger, cloud),
  ...capsulesAreTrue(ledger, cloud),
  ...uploadsAreInOnePlace(ledger),
  ...exportsAreRecorded(ledger, acknowledged, kills),
  ...nothingStays(ledger)
]
