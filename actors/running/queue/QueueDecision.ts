import type { MissingAgentProperty, QueueReason } from "../../../schema/records/QueuePlace.ts"
import type { RunId, WorkspaceId } from "../../../schema/records/Ids.ts"

/** Limits of one pool: the total number of slots, and the maximum number of slots for one Workspace. */
export interface PoolLimits {
  readonly places: number
  readonly perWorkspace: number
}

/** Limits for the control plane. Agents count their own slots, and request a Run only if a slot is free. */
export interface QueueLimits {
  readonly runs: PoolLimits
  readonly builds: PoolLimits
}

const unlimited: PoolLimits = { places: Number.POSITIVE_INFINITY, perWorkspace: Number.POSITIVE_INFINITY }

const limitsOf = (limits: QueueLimits, pool: string): PoolLimits =>
  pool === "runs" || pool === "builds" ? limits[pool] : unlimited

/**
 * Facts about a Run that the decision depends on. `capsuleLine` is absent if the Run may run in parallel with other Runs of its
 * Capsule.
 */
interface Standing {
  readonly id: RunId
  readonly workspaceId: WorkspaceId
  readonly pool: string
  readonly capsuleLine?: string | undefined
}

export interface RunningRun extends Standing {
  readonly startedAt: string
  /** The agent that is executing the Run, if the Run is in a pool of agents. */
  readonly owner?: string | undefined
  /** Set for scheduled drift checks. `isStopping` is true if a stop has already been requested. */
  readonly scheduledCheck?: { readonly isStopping: boolean } | undefined
  /** Set for plans of a pull request's head that svc started. `isStopping` is true if a stop has already been requested. */
  readonly headPlan?: { readonly isStopping: boolean } | undefined
}

/**
 * A queued Run. A turn is a number that increases each time a Run starts. It is 0 for a Workspace or subject that has never
 * started a Run in the pool.
 */
export interface QueuedRun extends Standing {
  readonly subject: string
  /**
   * True for drift checks, speculative plans and fetches of pull requests' heads. They start after all other Runs, and never
   * take the last free slot, unless it is the only slot.
   */
  readonly comesLast: boolean
  readonly queuedAt: string
  readonly workspaceTurn: number
  readonly subjectTurn: number
}

export interface QueueState {
  readonly limits: QueueLimits
  readonly running: ReadonlyArray<RunningRun>
  readonly queued: ReadonlyArray<QueuedRun>
}

/** The position of a queued Run in structured form. */
export interface Place {
  readonly position: number
  readonly pool: string
  readonly reason: QueueReason
  readonly heldByRunId?: RunId
  readonly limit?: number
  /** A sentence that explains how agents affect the position. */
  readonly sentence?: string
  /** With `no_agent`. */
  readonly missing?: ReadonlyArray<MissingAgentProperty>
}

export interface Decision {
  /** The Run that may start now. */
  readonly next: QueuedRun | undefined
  readonly places: ReadonlyMap<string, Place>
}

const compared = <A extends string | number>(a: A, b: A): number => (a < b ? -1 : a > b ? 1 : 0)

const byArrival = (a: QueuedRun, b: QueuedRun): number =>
  compared(Number(a.comesLast), Number(b.comesLast)) || compared(a.queuedAt, b.queuedAt) || compared(a.id, b.id)

const grouped = <A>(items: ReadonlyArray<A>, key: (item: A) => string): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group === undefined) groups.set(key(item), [item])
    else group.push(item)
  }
  return groups
}

/**
 * Interleaves the queues: the first Run of every queue comes first, then the second Run of every queue, and so on. In every
 * round, the queue that was served longest ago comes first.
 */
const inTurns = (
  lines: Iterable<ReadonlyArray<QueuedRun>>,
  turnOf: (run: QueuedRun) => number
): ReadonlyArray<QueuedRun> => {
  const earliest = (line: ReadonlyArray<QueuedRun>) =>
    line.reduce((first, run) => (byArrival(run, first) < 0 ? run : first))
  const led = [...lines]
    .flatMap((line) => (line[0] === undefined ? [] : [{ line, turn: turnOf(line[0]), first: earliest(line) }]))
    .toSorted((a, b) => compared(a.turn, b.turn) || byArrival(a.first, b.first))
  const rounds = led.flatMap(({ line }, at) => line.map((run, round) => ({ run, round, at })))
  return rounds.toSorted((a, b) => compared(a.round, b.round) || compared(a.at, b.at)).map(({ run }) => run)
}

const byTurn = (runs: ReadonlyArray<QueuedRun>): ReadonlyArray<QueuedRun> => {
  const people = grouped(runs.toSorted(byArrival), ({ subject }) => subject)
  return inTurns(people.values(), ({ subjectTurn }) => subjectTurn)
}

/** Places the Runs that come last (`comesLast`) after all other Runs. Within each of the two groups, people take turns. */
const workspaceOrder = (runs: ReadonlyArray<QueuedRun>): ReadonlyArray<QueuedRun> => [
  ...byTurn(runs.filter(({ comesLast }) => !comesLast)),
  ...byTurn(runs.filter(({ comesLast }) => comesLast))
]

const oldest = (runs: ReadonlyArray<RunningRun>): RunningRun | undefined =>
  runs.toSorted((a, b) => compared(a.startedAt, b.startedAt) || compared(a.id, b.id))[0]

/** Returns the reason, other than its place in the queue, why a Run that is not waiting for its Capsule cannot start. */
const obstacleOf = (run: QueuedRun, { limits, running }: QueueState): Omit<Place, "position"> | undefined => {
  const { pool } = run
  const { perWorkspace, places } = limitsOf(limits, pool)
  const inPool = running.filter((other) => other.pool === pool)
  const own = inPool.filter(({ workspaceId }) => workspaceId === run.workspaceId)
  const holder = oldest(own)
  const held = { pool, ...(holder === undefined ? {} : { heldByRunId: holder.id }) }
  if (own.length >= perWorkspace) return { ...held, reason: "workspace_limit", limit: perWorkspace }
  if (inPool.length >= places) return { ...held, reason: "places_taken", limit: places }
  // The last slot of the pool, and the last slot of the Workspace, are not available to Runs that come last.
  if (!run.comesLast) return undefined
  if (places > 1 && inPool.length === places - 1) return { ...held, reason: "place_kept", limit: places }
  if (perWorkspace > 1 && own.length === perWorkspace - 1) return { ...held, reason: "place_kept", limit: perWorkspace }
  return undefined
}

/** Pool and Workspace of a Run that a person requested and that is waiting for a slot, not for its Capsule. */
export interface AskedRun {
  readonly workspaceId: WorkspaceId
  readonly pool: string
}

/**
 * Selects the Runs to stop for Runs that people requested: for each waiting Workspace, the scheduled drift check that
 * started last, or none if one of its Runs is already stopping. If there is only one slot, plans of pull requests' heads can
 * occupy it, so such plans may be stopped, too.
 */
export const runsToPreempt = (
  { limits, running }: Pick<QueueState, "limits" | "running">,
  asked: ReadonlyArray<AskedRun>
): ReadonlyArray<RunId> => {
  const stopping = new Set(
    running
      .filter(({ headPlan, scheduledCheck }) => (scheduledCheck ?? headPlan)?.isStopping === true)
      .map(({ id }) => id)
  )
  const chosen: Array<RunId> = []
  for (const { pool, workspaceId } of asked) {
    const inPool = running.filter((run) => run.pool === pool)
    const own = inPool.filter((run) => run.workspaceId === workspaceId)
    const { perWorkspace, places } = limitsOf(limits, pool)
    const [holders, limit] =
      own.length >= perWorkspace ? [own, perWorkspace] : inPool.length >= places ? [inPool, places] : [[], places]
    const yielding = holders.filter(
      ({ headPlan, scheduledCheck }) => scheduledCheck !== undefined || (limit === 1 && headPlan !== undefined)
    )
    if (yielding.some(({ id }) => stopping.has(id))) continue
    const last = yielding.toSorted((a, b) => compared(b.startedAt, a.startedAt) || compared(a.id, b.id))[0]
    if (last === undefined) continue
    chosen.push(last.id)
    stopping.add(last.id)
  }
  return chosen
}

/** Returns the positions of Runs that are waiting for their Capsule. */
const capsulePlaces = ({ queued, running }: QueueState): ReadonlyMap<string, Place> => {
  const places = new Map<string, Place>()
  const waiting = queued.filter(({ capsuleLine }) => capsuleLine !== undefined)
  for (const [line, runs] of grouped(waiting, ({ capsuleLine = "" }) => capsuleLine)) {
    const active = running.find(({ capsuleLine }) => capsuleLine === line)
    const inOrder = runs.toSorted(byArrival)
    const holder = active ?? inOrder[0]
    const before = active === undefined ? 0 : 1
    for (const [at, { id, pool }] of inOrder.entries()) {
      if (holder === undefined || at + before === 0) continue
      places.set(id, { position: at + before + 1, pool, reason: "capsule_busy", heldByRunId: holder.id })
    }
  }
  return places
}

/**
 * Selects the next Run, and determines the position of every other Run. The Runs in a Capsule's queue start in order of
 * arrival, and at most one of them is active. Within a pool, Workspaces take turns, and within a Workspace, the people who
 * requested the Runs take turns: the Workspace or person whose last Run started longest ago comes first. Therefore, while a
 * Run is waiting, every other Workspace starts at most one Run before it, and a Run that cannot get a slot delays nobody
 * else. Drift checks, speculative plans and fetches of pull requests' heads come after all other Runs. `queued` may contain
 * only part of the queue. To determine `next`, the first claimable Run of each person is sufficient, in each Workspace that
 * may be next; to determine the positions of one Workspace's Runs, all its Runs are sufficient.
 */
export const decide = (state: QueueState): Decision => {
  const busy = capsulePlaces(state)
  const ready = state.queued.filter(({ id }) => !busy.has(id))
  const places = new Map(busy)
  const startable: Array<QueuedRun> = []
  for (const pool of new Set(["runs", "builds", ...ready.map((run) => run.pool)])) {
    const inPool = ready.filter((run) => run.pool === pool)
    const workspaces = [...grouped(inPool, ({ workspaceId }) => workspaceId).values()].map(workspaceOrder)
    for (const runs of workspaces) {
      for (const [at, run] of runs.entries()) {
        places.set(run.id, { position: at + 1, ...(obstacleOf(run, state) ?? { pool, reason: "turn" }) })
      }
    }
    const free = workspaces.map((runs) => runs.filter(({ id }) => places.get(id)?.reason === "turn"))
    for (const comesLast of [false, true]) {
      const lines = free.map((runs) => runs.filter((run) => run.comesLast === comesLast))
      startable.push(...inTurns(lines, ({ workspaceTurn }) => workspaceTurn))
    }
  }
  return { next: startable[0], places }
}
