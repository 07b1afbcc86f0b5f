import type { KillPointName } from "../../actors/run/KillPoint.ts"
import type { Kill } from "./CrashHost.ts"
import type { JourneyName } from "./Journey.ts"

/** A process of an apply that is killed while the server lives. */
export type Victim = "tool" | "plugin" | "sandbox"

export interface Scenario {
  readonly name: string
  readonly journey: JourneyName
  readonly kills: ReadonlyArray<Kill>
  readonly victim?: Victim
  readonly isolation?: "auto" | "off"
  /** Every kill has to happen, else the scenario tested nothing. */
  readonly mustKill: boolean
}

const at = (point: KillPointName, passing: number): Kill => ({ _tag: "at", at: { point, passing } })

const named = (journey: JourneyName, points: ReadonlyArray<readonly [KillPointName, ...ReadonlyArray<number>]>) =>
  points.flatMap(([point, ...passings]) =>
    (passings.length === 0 ? [1] : passings).map(
      (passing): Scenario => ({ name: `${point}:${passing}`, journey, kills: [at(point, passing)], mustKill: true })
    )
  )

const second = (first: Kill, points: ReadonlyArray<KillPointName>) =>
  points.map(
    (point): Scenario => ({
      name: `${first._tag === "at" ? first.at.point : ""} then ${point}`,
      journey: "install",
      kills: [first, at(point, 1)],
      mustKill: true
    })
  )

/** One scenario a named point, each in the shortest journey that passes it. */
export const namedScenarios: ReadonlyArray<Scenario> = [
  ...named("install", [
    ["install.created"],
    ["install.stepping", 1, 2, 3, 4],
    ["install.stepped", 1, 2, 3, 4],
    ["source_sync.run.queued"],
    ["source_sync.run.started"],
    ["source_sync.claimed"],
    ["source_sync.before-runner"],
    ["source_sync.after-runner"],
    ["source_sync.run.succeeded"],
    ["source_sync.settled"],
    ["compatibility_check.before-runner"],
    ["compatibility_check.after-runner"],
    ["compatibility_check.run.succeeded"],
    ["compatibility_check.settled"],
    ["plan.run.queued"],
    ["plan.run.started"],
    ["plan.claimed"],
    ["plan.before-runner"],
    ["plan.run.phase", 2],
    ["plan.after-runner"],
    ["plan.run.waiting_approval"],
    ["plan.settled"],
    ["plan.run.approved"],
    ["approve.decided"],
    ["apply.run.queued"],
    ["apply.asked"],
    ["apply.run.started"],
    ["apply.claimed"],
    ["apply.before-runner"],
    ["apply.run.phase", 1, 3],
    ["apply.resource.started", 1, 2],
    ["apply.resource.completed", 1, 2],
    ["apply.checkpoint"],
    ["apply.after-runner"],
    ["apply.run.succeeded"],
    ["apply.settled"]
  ]),
  ...named("cancel", [["cancel.decided"], ["apply.run.cancelled"]]),
  ...named("destroy", [
    ["destroy_plan.after-runner"],
    ["destroy_plan.run.waiting_approval"],
    ["destroy_apply.claimed"],
    ["destroy_apply.before-runner"],
    ["destroy_apply.resource.started"],
    ["destroy_apply.resource.completed"],
    ["destroy_apply.after-runner"],
    ["destroy_apply.run.succeeded"],
    ["destroy_apply.settled"]
  ]),
  ...second(at("apply.resource.started", 2), [
    "recovery.begun",
    "apply.run.failed",
    "recovery.settled",
    "recovery.sweeping"
  ]),
  ...second(at("plan.after-runner", 1), ["plan.run.queued", "plan.after-runner"]),
  ...second(at("source_sync.after-runner", 1), ["source_sync.claimed"]),
  ...(["tool", "plugin", "sandbox"] as const).map(
    (victim): Scenario => ({ name: `the ${victim} dies`, journey: "install", kills: [], victim, mustKill: true })
  ),
  ...(["tool", "plugin"] as const).map(
    (victim): Scenario => ({
      name: `the ${victim} dies without a sandbox`,
      journey: "install",
      kills: [],
      victim,
      isolation: "off",
      mustKill: true
    })
  ),
  {
    name: "the server dies without a sandbox",
    journey: "destroy",
    kills: [at("apply.resource.started", 2)],
    isolation: "off",
    mustKill: true
  }
]

const mostKills = 3
const longestLife = 4000

/** Scenarios that kill at times drawn from `random`, a source of numbers in [0, 1). */
export const randomScenarios = (count: number, random: () => number): ReadonlyArray<Scenario> =>
  Array.from({ length: count }, (_, index) => {
    const kills = Array.from(
      { length: 1 + Math.floor(random() * mostKills) },
      (): Kill => ({ _tag: "after", millis: Math.floor(random() * longestLife) })
    )
    const times = kills.map((kill) => (kill._tag === "after" ? kill.millis : 0)).join(", ")
    return {
      name: `random ${index + 1}: ${times} ms`,
      journey: random() < 0.7 ? "destroy" : "cancel",
      kills,
      mustKill: false
    }
  })
