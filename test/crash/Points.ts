import type { KillPointName } from "../../actors/base/KillPoint.ts"
import type { Kill } from "./CrashHost.ts"
import type { JourneyName } from "./Journey.ts"
import type { Hunt, Scenario, Victim } from "./Scenario.ts"

const at = (point: KillPointName, passing: number): Kill => ({ _tag: "at", at: { point, passing } })

/** The state is read a few times per second, so the tool has to wait until a read has seen the state. */
const heldAt = (point: KillPointName): Pick<Scenario, "hunt"> =>
  point === "apply.checkpoint" ? { hunt: { victim: "point", stage: "apply" } } : {}

const named = (journey: JourneyName, points: ReadonlyArray<readonly [KillPointName, ...ReadonlyArray<number>]>) =>
  points.flatMap(([point, ...passings]) =>
    (passings.length === 0 ? [1] : passings).map(
      (passing): Scenario => ({
        name: `${point}:${passing}${journey === "adopt" ? " of an adoption" : journey === "import" ? " of an import" : ""}`,
        journey,
        kills: [at(point, passing)],
        ...heldAt(point),
        mustKill: true
      })
    )
  )

type Passing = readonly [point: KillPointName, passing: number]

const chain = (...points: readonly [Passing, ...ReadonlyArray<Passing>]): Scenario => ({
  name: points.map(([point, passing]) => `${point}:${passing}`).join(" then "),
  journey: "install",
  kills: points.map(([point, passing]) => at(point, passing)),
  ...heldAt(points[0][0]),
  mustKill: true
})

const hunted = ({ stage, victim }: Hunt, isolation: "auto" | "off" = "auto"): Scenario => ({
  name: `the ${victim} dies in the ${stage}${isolation === "off" ? " without a sandbox" : ""}`,
  journey: stage === "destroy" ? "destroy" : "install",
  kills: [],
  hunt: { stage, victim },
  isolation,
  mustKill: true
})

const points: ReadonlyArray<Scenario> = [
  ...named("install", [
    ["install.created"],
    ["install.stepping", 1, 2, 3, 4],
    ["install.stepped", 1, 2, 3, 4],
    ["source_sync.run.queued"],
    ["source_sync.run.started"],
    ["source_sync.claimed"],
    ["source_sync.prepared"],
    ["source_sync.executed"],
    ["source_sync.run.succeeded"],
    ["source_sync.settled"],
    ["compatibility_check.prepared"],
    ["compatibility_check.executed"],
    ["compatibility_check.run.succeeded"],
    ["compatibility_check.settled"],
    ["plan.run.queued"],
    ["plan.run.started"],
    ["plan.claimed"],
    ["plan.prepared"],
    ["plan.run.phase", 2, 1, 3, 4],
    ["plan.executed"],
    ["plan.run.waiting_approval"],
    ["plan.settled"],
    ["plan.run.approved"],
    ["approve.decided"],
    ["apply.run.queued"],
    ["apply.asked"],
    ["apply.run.started"],
    ["apply.claimed"],
    ["apply.prepared"],
    ["apply.run.phase", 1, 2, 3, 4],
    ["apply.resource.started", 1, 2],
    ["apply.resource.completed", 1, 2],
    ["apply.checkpoint"],
    ["apply.executed"],
    ["apply.run.succeeded"],
    ["apply.settled"]
  ]),
  ...named("adopt", [
    ["state_upload.storing"],
    ["state_upload.stored"],
    ["install.created"],
    ["install.stepping", 4],
    ["install.adopting"],
    ["install.stepped", 4],
    ["plan.executed"],
    ["apply.executed"],
    ["apply.settled"]
  ]),
  ...named("import", [
    ["state_upload.storing"],
    ["state_upload.stored"],
    ["install.adopting"],
    ["import.confirming"],
    ["import.confirmed"],
    ["plan.executed", 2],
    ["apply.executed", 2]
  ]),
  ...named("export", [["export.granting"], ["export.granted"], ["export.sending"]]),
  // Covers a review and the Run that performs it.
  ...named("restore", [
    ["restore.run.queued", 1, 2],
    ["restore.run.started", 1, 2],
    ["restore.claimed", 1, 2],
    ["restore.run.waiting_approval"],
    ["restore.run.approved"],
    ["restore.committing"],
    ["restore.run.succeeded"],
    ["restore.settled", 1, 2]
  ]),
  ...named("cancel", [["cancel.decided"], ["apply.run.cancelled"]]),
  ...named("destroy", [
    ["destroy_plan.prepared"],
    ["destroy_plan.executed"],
    ["destroy_plan.run.waiting_approval"],
    ["destroy_apply.claimed"],
    ["destroy_apply.prepared"],
    ["destroy_apply.resource.started"],
    ["destroy_apply.resource.completed"],
    ["destroy_apply.executed"],
    ["destroy_apply.run.succeeded"],
    ["destroy_apply.settled"]
  ])
]

/**
 * Kills between an apply and the end of its checks: after the state has been committed, during a check, and before the result of
 * the checks is committed.
 */
const checks: ReadonlyArray<Scenario> = (
  [
    ["apply.committed", 1],
    ["apply.run.phase", 5],
    ["apply.run.succeeded", 1]
  ] as const
).map(([point, passing]) => ({
  name: `${point}:${passing} of a checked apply`,
  journey: "install",
  kills: [at(point, passing)],
  checked: true,
  mustKill: true
}))

/** Kills the server several times in a row, including during recovery. */
const recoveries: ReadonlyArray<Scenario> = [
  ...(["recovery.begun", "apply.run.failed", "recovery.settled", "recovery.cleaning"] as const).map((point) =>
    chain(["apply.resource.started", 2], [point, 1])
  ),
  chain(["plan.executed", 1], ["plan.run.queued", 1]),
  chain(["plan.executed", 1], ["plan.executed", 1]),
  chain(["source_sync.executed", 1], ["source_sync.claimed", 1]),
  chain(
    ["apply.checkpoint", 1],
    ["recovery.begun", 1],
    ["apply.run.failed", 1],
    ["recovery.settled", 1],
    ["recovery.cleaning", 1]
  ),
  chain(["plan.run.phase", 2], ["recovery.settled", 1], ["recovery.cleaning", 1])
]

/**
 * Three installs create three plans, and the fourth plan starts the update. The server is also killed in each later wave.
 */
const updates: ReadonlyArray<Scenario> = [
  {
    name: "an update in waves: at its start, between two waves, in a plan and in an apply",
    journey: "update",
    kills: [at("plan.run.queued", 4), at("apply.settled", 1), at("plan.executed", 1), at("apply.prepared", 1)],
    mustKill: true
  }
]

const inSandbox: ReadonlyArray<Victim> = ["tool", "plugin", "sandbox"]
const withoutSandbox: ReadonlyArray<Hunt["victim"]> = ["tool", "plugin", "server"]

const hunts: ReadonlyArray<Scenario> = [
  hunted({ victim: "sync", stage: "sync" }),
  ...(["plan", "apply", "destroy"] as const).flatMap((stage) => [
    ...inSandbox.map((victim) => hunted({ victim, stage })),
    ...withoutSandbox.map((victim) => hunted({ victim, stage }, "off"))
  ]),
  hunted({ victim: "server", stage: "sync" })
]

// Only root may mount the small disk.
const fullDisks: ReadonlyArray<Scenario> =
  process.getuid?.() === 0
    ? [{ name: "the disk is full during an apply", journey: "destroy", kills: [], diskFull: true, mustKill: true }]
    : []

/** Kills at every visit of every named point, during recovery, in the server's child processes, and on a full disk. */
export const namedScenarios: ReadonlyArray<Scenario> = [
  ...points,
  ...checks,
  ...recoveries,
  ...updates,
  ...hunts,
  ...fullDisks
]

// The kill points of the short form: each kind of process during a creation, and the server once during recovery.
const coreNames = new Set([
  "apply.resource.started:2",
  "apply.executed:1",
  "apply.resource.started:2 then recovery.settled:1",
  "the tool dies in the apply"
])

/** Scenarios that the short form always runs. */
export const coreScenarios: ReadonlyArray<Scenario> = namedScenarios.filter(({ name }) => coreNames.has(name))

const mostKills = 3
const longestLife = 4000
const victims: ReadonlyArray<Victim> = ["tool", "plugin", "sandbox", "sync"]

/**
 * Draws at most ten scenarios of each kind, using `random`, which returns numbers in [0, 1): servers killed at random times,
 * servers killed at a named point and again some time later, or processes started by a server.
 */
export const randomScenarios = (count: number, random: () => number): ReadonlyArray<Scenario> => {
  const below = (limit: number) => Math.floor(random() * limit)
  const after = (): Kill => ({ _tag: "after", millis: below(longestLife) })
  const draw = (): Omit<Scenario, "name"> & { readonly label: string } => {
    const isolation = random() < 0.25 ? "off" : "auto"
    const kind = random()
    const common = { isolation, mustKill: false } as const
    const journey = random() < 0.7 ? "destroy" : "cancel"
    if (kind < 0.5) {
      const kills = Array.from({ length: 1 + below(mostKills) }, after)
      return { ...common, label: kills.map(described).join(", "), journey, kills }
    }
    if (kind < 0.75) {
      const kills = [...(points[below(points.length)]?.kills ?? []), after()]
      return { ...common, label: kills.map(described).join(", "), journey, kills }
    }
    const strikes = Array.from({ length: 1 + below(2) }, () => ({
      victim: victims[below(victims.length)] ?? ("tool" as const),
      millis: below(longestLife)
    }))
    const label = strikes.map(({ millis, victim }) => `${victim} at ${millis} ms`).join(", ")
    return { ...common, label, journey: "destroy", kills: [], strikes }
  }
  return Array.from({ length: count }, (_, index) => {
    const { label, ...scenario } = draw()
    const place = scenario.isolation === "off" ? " without a sandbox" : ""
    return { ...scenario, name: `random ${index + 1}: ${label}${place}` }
  })
}

const described = (kill: Kill) => (kill._tag === "at" ? kill.at.point : `server at ${kill.millis} ms`)
