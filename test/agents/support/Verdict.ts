import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { Effect, Schedule } from "effect"
import { Broken, holds } from "../../crash/CrashClient.ts"
import { type Ledger, readCloud, readLedger } from "../../crash/Ledger.ts"
import { canarySweep } from "../../support/CanarySweep.ts"
import { canaries } from "./AgentModules.ts"
import type { AgentWorld } from "./AgentWorld.ts"

const isContiguous = (spans: ReadonlyArray<{ readonly from: number; readonly to: number }>) =>
  spans.every(({ from }, index) => from === (spans[index - 1]?.to ?? 0) + 1)

/** Every Run is over, and its reports are stored once and completely. */
const runsAreTold = (ledger: Ledger) =>
  ledger.runs.flatMap(({ id, owner, status, type }) => {
    const events = ledger.events.filter(({ run_id }) => run_id === id).map(({ seq }) => ({ from: seq, to: seq }))
    const lines = ledger.chunks
      .filter(({ run_id }) => run_id === id)
      .map(({ first_seq, last_seq }) => ({ from: first_seq, to: last_seq }))
    return [
      ...(status === "queued" || status === "running" ? [`${type} ${id} is still ${status}`] : []),
      ...(owner === null ? [] : [`${type} ${id} is over and has an owner`]),
      ...(isContiguous(events) ? [] : [`Events of ${id} have a gap`]),
      ...(isContiguous(lines) ? [] : [`Log lines of ${id} have a gap`])
    ]
  })

/**
 * Nothing was created twice, by the provider's own count; what was created is in a state, or listed as possibly
 * created.
 */
const creationsAreKnown = (ledger: Ledger, cloud: Effect.Success<ReturnType<typeof readCloud>>, world: AgentWorld) => {
  const inStates = new Set(ledger.states.flatMap(({ notes }) => notes))
  return [...new Set(cloud.created.map(({ name }) => name))].flatMap((name) => {
    const created = cloud.created.filter((one) => one.name === name)
    const at = name.lastIndexOf("-")
    const capsuleId = world.capsules.get(name.slice(0, at))
    const suspected = ledger.runs.some(
      ({ capsule_id, evidence }) =>
        capsule_id === capsuleId && evidence.possiblyCreated?.includes(`demo_note.${name.slice(at + 1)}`) === true
    )
    const unknown = created.filter(({ id }) => !inStates.has(id))
    return [
      ...(created.length > 1 ? [`${name} was made ${created.length} times`] : []),
      ...(unknown.length > 0 && !suspected ? [`${name} exists, and nobody says so`] : [])
    ]
  })
}

/** A Run that says that nothing was changed has created nothing. */
const untouchedIsTrue = (ledger: Ledger, cloud: Effect.Success<ReturnType<typeof readCloud>>, world: AgentWorld) =>
  [...world.capsules].flatMap(([label, capsuleId]) => {
    const made = cloud.created.filter(({ name }) => name.startsWith(`${label}-`)).length
    const applies = ledger.runs.filter(({ capsule_id, type }) => capsule_id === capsuleId && type === "apply")
    const states = ledger.states.filter((state) => state.capsuleId === capsuleId)
    const succeeded = applies.some(({ status }) => status === "succeeded")
    return [
      ...(applies.length === 0 && made > 0 ? [`${label} has ${made} notes and no apply`] : []),
      ...(succeeded && states.length === 0 ? [`${label} was applied, and its state is lost`] : [])
    ]
  })

/** Stops everything, and reads what exists: database, folders, output, and every byte that passed a connection. */
export const verdict = Effect.fn("verdict")(function* (world: AgentWorld) {
  const owed = () =>
    world.agents.flatMap((folder) => (existsSync(`${folder}/runs`) ? readdirSync(`${folder}/runs`) : []))
  yield* Effect.repeat(Effect.sync(owed), {
    until: (names) => names.length === 0,
    schedule: Schedule.spaced("100 millis")
  }).pipe(
    Effect.timeoutOrElse({
      duration: "30 seconds",
      orElse: () => new Broken({ message: `Agents still hold ${owed().join(", ")}` })
    })
  )
  const captured = `${world.folder}/captured`
  mkdirSync(captured)
  for (const [at, line] of world.lines.entries()) {
    for (const [index, bytes] of line.captured().entries()) writeFileSync(`${captured}/${at}-${index}`, bytes)
  }
  yield* world.stopped
  const ledger = yield* readLedger(world.dataDir)
  const cloud = yield* readCloud(world.notesDir)
  const found = [world.dataDir, world.output, captured, ...world.agents].flatMap((folder) =>
    existsSync(folder) ? canarySweep(folder, canaries) : []
  )
  const broken = [
    ...ledger.integrity.map((problem) => `The database is damaged: ${JSON.stringify(problem)}`),
    ...runsAreTold(ledger),
    ...creationsAreKnown(ledger, cloud, world),
    ...untouchedIsTrue(ledger, cloud, world),
    ...found.map((place) => `A secret is in ${place}`)
  ]
  yield* holds(broken.length === 0, broken.join("\n    "))
  return ledger
})
