import { Effect, Fiber } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { judged } from "../support/History.ts"
import { appliesAgain } from "../support/Progress.ts"
import type { NodesWorld } from "../support/NodesWorld.ts"
import { writer } from "../support/Writer.ts"
import type { NodesCase } from "./NodesCase.ts"

const faultKinds = [
  "kill",
  "freeze",
  "restart",
  "cut",
  "stop",
  "delay",
  "agent cut",
  "agent freeze",
  "agent killed",
  "database"
] as const
type FaultKind = (typeof faultKinds)[number]

interface Fault {
  readonly kind: FaultKind
  /** The affected node or agent. */
  readonly whom: number
  /** Start of the fault in milliseconds since the scenario began, and its duration. */
  readonly at: number
  readonly lasts: number
}

const mostFaults = 4
const longestWait = 12_000
const longestFault = 15_000
const capsules = 2

const describe = ({ at, kind, lasts, whom }: Fault) => `${kind} ${whom + 1} at ${at} for ${lasts} ms`

const happens = ({ at, kind, lasts, whom }: Fault, world: NodesWorld): Effect.Effect<unknown, unknown> => {
  const node = world.nodes[whom % world.nodes.length]
  const agent = world.keptAgents[whom % world.keptAgents.length]
  if (node === undefined || agent === undefined) return Effect.void
  const during = (begin: Effect.Effect<unknown>, end: Effect.Effect<unknown>) =>
    Effect.andThen(begin, Effect.sleep(lasts)).pipe(Effect.ensuring(end))
  const line = (change: (on: boolean) => void) =>
    during(
      Effect.sync(() => change(true)),
      Effect.sync(() => change(false))
    )
  const kinds: Readonly<Record<FaultKind, () => Effect.Effect<unknown, unknown>>> = {
    kill: () => node.signal("SIGKILL"),
    freeze: () => during(node.signal("SIGSTOP"), node.signal("SIGCONT")),
    restart: () => node.signal("SIGTERM"),
    cut: () => line(node.database.cut),
    stop: () => line(node.database.stop),
    delay: () => line((isOn) => node.database.delay(isOn ? 5 : 0)),
    "agent cut": () => line(agent.line.cut),
    "agent freeze": () =>
      during(
        Effect.sync(() => agent.signal("SIGSTOP")),
        Effect.sync(() => agent.signal("SIGCONT"))
      ),
    "agent killed": () => Effect.sync(() => agent.kill()),
    database: () => world.databaseRestarted
  }
  return Effect.andThen(Effect.sleep(at), kinds[kind]())
}

/** Creates a scenario with random faults. `random` generates numbers in [0, 1). */
export const randomCase = (number: number, random: () => number, isShort: boolean): NodesCase => {
  const below = (limit: number) => Math.floor(random() * limit)
  const faults = Array.from(
    { length: 2 + below(mostFaults - 1) },
    (): Fault => ({
      kind: faultKinds[below(faultKinds.length)] ?? "kill",
      whom: below(6),
      at: below(longestWait),
      lasts: 500 + below(longestFault)
    })
  )
  const harmsAgents = faults.some(({ kind }) => kind === "agent killed")
  return {
    name: `random ${number}: ${faults.map(describe).join(", ")}`,
    isShort,
    run: Effect.fnUntraced(function* (world, label) {
      const writes = yield* writer(world)
      const journey = Effect.fnUntraced(function* (one: string) {
        const { planRunId } = yield* world.installed(one)
        const plan = yield* world.over(planRunId, "5 minutes")
        const isPlanned = plan.status === "waiting_approval"
        yield* holds(isPlanned || harmsAgents, `The plan of ${one} is ${plan.status}: ${plan.error?.message}`)
        if (!isPlanned) return
        const apply = yield* world.over(yield* world.applied(planRunId), "5 minutes")
        yield* holds(
          apply.status === "succeeded" || harmsAgents,
          `The apply of ${one} is ${apply.status}: ${apply.error?.code} ${apply.error?.message}`
        )
      })
      const journeys = yield* Effect.forkScoped(
        Effect.forEach(
          Array.from({ length: capsules }, (_, index) => `${label}-${index + 1}`),
          journey,
          { concurrency: capsules }
        )
      )
      yield* Effect.forEach(faults, (fault) => happens(fault, world), { concurrency: "unbounded" })
      yield* Fiber.join(journeys)
      yield* appliesAgain(world, `${label}-next`)
      yield* judged(world, [writes])
    })
  }
}
