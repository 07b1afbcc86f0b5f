import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { localPool } from "../../../schema/agent/PoolName.ts"
import type { MissingAgentProperty, QueueReason } from "../../../schema/records/QueuePlace.ts"
import { rowShape } from "../../base/database/Table.ts"
import { SharedDatabase } from "../../base/node/Nodes.ts"
import { isApply } from "../../ledger/run/RunLifecycle.ts"
import type { ListedRunRow } from "../../ledger/run/RunRow.ts"
import { type Lack, lackOf, needInWords } from "./AgentFit.ts"
import { AgentNeeds } from "./AgentNeeds.ts"
import { type AgentPlaces, placesWithLastKept } from "./AgentPlaces.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { DeclinedRuns } from "./DeclinedRuns.ts"
import { EarlierLeases } from "./EarlierLeases.ts"
import { ServerRelease, versionProblem } from "./AgentVersions.ts"
import { BusyAgentRow, FactsJson, runsOfAgent } from "./PoolRows.ts"

const Assigned = rowShape({ assigned: Schema.Int })

type PlacedRun = WaitingRun & Pick<ListedRunRow, "purpose">
type WaitingRun = Pick<ListedRunRow, "id" | "pool" | "type" | "workspace_id">

/** The reason why a Run cannot start in its pool yet, as fields of its queue position. */
export interface PoolObstacle {
  readonly reason: Extract<QueueReason, "no_agent" | "place_kept" | "places_taken">
  readonly sentence?: string
  readonly missing?: ReadonlyArray<MissingAgentProperty>
  readonly limit?: number
}

const placesOf = ({ facts, runs }: { readonly facts: { id: string; places: number }; readonly runs: number }) => ({
  id: facts.id,
  places: facts.places,
  runs
})

const absent = (property: MissingAgentProperty["property"], sentence: string): PoolObstacle => ({
  reason: "no_agent",
  sentence,
  missing: [{ property }]
})

/**
 * Message for a Run that nothing can execute: it has no pool of agents, and servers that share a database execute no modules
 * themselves.
 */
const onAgentsOnly =
  "Several servers share this database, so modules are executed by agents only. The operator chooses their pool by an execution profile."

/** Returns true if this type of Run executes a module, so that an agent can take it. */
const isOfModule = (type: WaitingRun["type"]): boolean =>
  isApply(type) || type === "plan" || type === "destroy_plan" || type === "drift_check"

const heldBack = (until: string): PoolObstacle => ({
  reason: "no_agent",
  sentence: `The server was restored from a backup, and an agent may still execute an apply that is not in it. No apply starts before the leases of that time are over, at ${until}.`,
  missing: [{ property: "leases", needed: until }]
})

const isLack = (lack: Lack | undefined): lack is Lack => lack !== undefined

const distinct = (lacks: ReadonlyArray<Lack>): ReadonlyArray<Lack> =>
  lacks.filter(({ property }, at) => lacks.findIndex((other) => other.property === property) === at)

/** Computes the reason why a queued Run cannot start in its pool now. Ignores the order of the queue. */
export class PoolObstacles extends Context.Service<
  PoolObstacles,
  {
    readonly obstacle: (run: PlacedRun) => Effect.Effect<PoolObstacle | undefined>
    /**
     * Returns the connected agents that could execute the Run and have not recently declined it, whether or not they have a free
     * slot.
     */
    readonly takers: (run: Pick<WaitingRun, "id" | "pool">) => Effect.Effect<ReadonlyArray<AgentPlaces>>
    /** Returns the total number of slots in a pool, if its last free slot is reserved for Runs that people request. */
    readonly keptPlaces: (pool: string) => Effect.Effect<number | undefined>
  }
>()("svc/actors/running/agent-pool/PoolObstacles") {
  static readonly layer = Layer.effect(
    PoolObstacles,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const presence = yield* AgentPresence
      const release = yield* ServerRelease
      const needs = yield* AgentNeeds
      const leases = yield* EarlierLeases
      const declines = yield* DeclinedRuns
      const isShared = yield* SharedDatabase

      const connectedOf = Effect.fnUntraced(function* (pool: string) {
        const agents = yield* BusyAgentRow.rows(sql)`SELECT a.*, ${sql.literal(runsOfAgent)} FROM agents a
          WHERE a.pool = ${pool} AND a.revoked_at IS NULL`
        const connected = yield* Effect.filter(agents, ({ id }) => presence.isConnected(id))
        return connected.map(({ drain_requested_at, facts, id, runs }) => {
          const said = FactsJson.read(facts)
          const isOther = versionProblem(release, said) !== undefined
          return { facts: { ...said, id }, isDraining: drain_requested_at !== null || said.draining || isOther, runs }
        })
      })

      const takingOf = (connected: Effect.Success<ReturnType<typeof connectedOf>>) =>
        connected.filter(({ facts, isDraining }) => !isDraining && !facts.disk.low)

      const takers = Effect.fn("PoolObstacles.takers")(function* ({ id, pool }: Pick<WaitingRun, "id" | "pool">) {
        const need = yield* needs.of(id)
        if (Option.isNone(need)) return []
        const taking = takingOf(yield* Effect.orDie(connectedOf(pool)))
        const fitting = taking.filter(({ facts }) => lackOf(facts, need.value) === undefined)
        return (yield* Effect.filter(fitting, ({ facts }) => declines.isWorthRoom(facts.id, id))).map(placesOf)
      })

      const keptPlaces = Effect.fn("PoolObstacles.keptPlaces")(function* (pool: string) {
        return placesWithLastKept(takingOf(yield* Effect.orDie(connectedOf(pool))).map(placesOf))
      })

      const obstacle = Effect.fn("PoolObstacles.obstacle")(function* ({
        id,
        pool,
        purpose,
        type,
        workspace_id
      }: PlacedRun): Effect.fn.Return<PoolObstacle | undefined> {
        if (pool === localPool) {
          if (isShared && isOfModule(type)) return absent("assignment", onAgentsOnly)
          const until = isApply(type) ? yield* leases.end : undefined
          return until === undefined ? undefined : heldBack(until)
        }
        const assigned = yield* Effect.orDie(Assigned.rows(sql)`SELECT 1 AS assigned FROM agent_pool_workspaces w
          JOIN agent_pools p ON p.name = w.pool AND p.archived_at IS NULL
          WHERE w.pool = ${pool} AND w.workspace_id = ${workspace_id}`)
        if (assigned.length === 0) {
          return absent("assignment", `The operator has not assigned the pool ${pool} to this Workspace.`)
        }
        const connected = yield* Effect.orDie(connectedOf(pool))
        if (connected.length === 0) return absent("agent", `No agent of the pool ${pool} is connected.`)
        const need = yield* needs.of(id)
        if (Option.isNone(need)) return undefined
        const { heldUntil } = need.value
        if (heldUntil !== undefined) return heldBack(heldUntil)
        const fitting = connected.filter(({ facts }) => lackOf(facts, need.value) === undefined)
        if (fitting.length === 0) {
          return {
            reason: "no_agent",
            sentence: `No connected agent of the pool ${pool} has ${needInWords(need.value)}.`,
            missing: distinct(connected.map(({ facts }) => lackOf(facts, need.value)).filter(isLack))
          }
        }
        const staying = fitting.filter(({ isDraining }) => !isDraining)
        if (staying.length === 0) {
          return absent(
            "undrained",
            `Every connected agent of the pool ${pool} that can execute it is draining, or of a release that this server gives no Runs.`
          )
        }
        const taking = staying.filter(({ facts }) => !facts.disk.low)
        if (taking.length === 0) {
          return absent(
            "disk",
            `The disk of every connected agent of the pool ${pool} that can execute it is nearly full.`
          )
        }
        if (taking.some(({ facts, runs }) => runs < facts.places)) {
          const kept =
            type === "drift_check" || purpose === "speculative"
              ? placesWithLastKept(takingOf(connected).map(placesOf))
              : undefined
          return kept === undefined ? undefined : { reason: "place_kept", limit: kept }
        }
        const places = taking.reduce((sum, { facts }) => sum + facts.places, 0)
        const taken = places === 1 ? "The only place" : `All ${places} places`
        return {
          reason: "places_taken",
          sentence: `${taken} of the connected agents of the pool ${pool} that can execute it ${places === 1 ? "is" : "are"} taken.`,
          limit: places
        }
      })

      return PoolObstacles.of({ obstacle, takers, keptPlaces })
    })
  )
}
