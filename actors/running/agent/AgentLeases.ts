import { Clock, Context, Effect, Layer, Schema, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { RunClaim } from "../../../schema/agent/AgentJob.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { withoutWriteLock } from "../../base/database/WriteLock.ts"
import { now } from "../../base/Identity.ts"
import { monotonicNow, seconds } from "../../base/MonotonicNow.ts"
import { Nodes } from "../../base/node/Nodes.ts"
import { AgentRunRow } from "./AgentRunRow.ts"

/** An agent's lease on a Run, and the time of the agent's last contact. */
export interface Lease extends Pick<typeof RunClaim.Type, "runId" | "fence"> {
  readonly agentId: string
  readonly kind: "plan" | "apply" | "drift_check"
  readonly leaseSeconds: number
  readonly isAccepted: boolean
  readonly isUnreachable: boolean
  /**
   * True if the lease was granted at startup and its agent has not contacted the server since. In that case, `heardAt` is
   * the startup time.
   */
  readonly isResumed: boolean
  readonly heardAt: bigint
  /** Serial of the newest state that the agent reported. */
  readonly newestSerial?: number | undefined
  /** Number of contacts recorded in the claim's row, if servers share the database. */
  readonly beats?: number | undefined
}

/**
 * The leases of agents on their Runs. A lease starts at the agent's last contact and is measured by a monotonic clock.
 *
 * A single server keeps leases in memory. When it starts, it renews each lease in full, because agents could not reach it while it
 * was down. Servers that share a database count contacts in the row of the claim. One of these servers judges the leases by
 * watching whether the counts change. A server that becomes the judge also begins with a full lease for each claim. It does
 * not count the time during which it could not read the rows.
 */
export class AgentLeases extends Context.Service<
  AgentLeases,
  {
    /** True if leases are stored in rows. Every open claim then has a row. */
    readonly isShared: boolean
    readonly grant: (
      lease: Omit<Lease, "beats" | "heardAt" | "isUnreachable" | "isResumed" | "newestSerial">,
      isResumed?: boolean
    ) => Effect.Effect<void>
    /** Returns the claim's current lease. */
    readonly of: (claim: typeof RunClaim.Type) => Effect.Effect<Lease | undefined>
    /**
     * Returns the claim's lease for display. A server that does not judge the leases computes the lease from the wall clock,
     * so the result must not be used to decide that a Run is given up.
     */
    readonly shown: (claim: typeof RunClaim.Type) => Effect.Effect<Lease | undefined>
    /** Renews the lease. */
    readonly heard: (claim: typeof RunClaim.Type) => Effect.Effect<void>
    readonly accepted: (claim: typeof RunClaim.Type) => Effect.Effect<void>
    /** Records that the agent has reported a state with this serial. */
    readonly reached: (claim: typeof RunClaim.Type, newestSerial: number) => Effect.Effect<void>
    readonly unreachable: (claim: typeof RunClaim.Type) => Effect.Effect<void>
    /**
     * Rejects all further messages about the claim. Call it before the Run is given up. Returns false if the agent has contacted
     * any server since this lease was read, or has sent its result.
     */
    readonly close: (lease: Lease) => Effect.Effect<boolean>
    readonly end: (claim: typeof RunClaim.Type) => Effect.Effect<void>
    readonly all: Effect.Effect<ReadonlyArray<Lease>>
    /**
     * Serialises this server's decisions about leases, such as giving up a Run and accepting its result. If different
     * servers decide, `close` and the Run's hold determine which decision came first.
     */
    readonly decided: <A, E, R>(decision: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("svc/actors/running/agent/AgentLeases") {
  static readonly layer = Layer.effect(
    AgentLeases,
    Effect.gen(function* () {
      const { isShared } = yield* Nodes
      return yield* isShared ? inRows : inMemory
    })
  )
}

const inMemory = Effect.gen(function* () {
  const deciding = yield* Semaphore.make(1)
  const leases = new Map<RunId, Lease>()

  const changed = ({ fence, runId }: typeof RunClaim.Type, change: (lease: Lease) => Lease) => {
    const lease = leases.get(runId)
    if (lease?.fence === fence) leases.set(runId, change(lease))
  }

  const of = ({ fence, runId }: typeof RunClaim.Type) =>
    Effect.sync(() => {
      const lease = leases.get(runId)
      return lease?.fence === fence ? lease : undefined
    })

  return AgentLeases.of({
    isShared: false,
    grant: (lease, isResumed = false) =>
      Effect.map(
        monotonicNow,
        (heardAt) => void leases.set(lease.runId, { ...lease, isUnreachable: false, isResumed, heardAt })
      ),
    of,
    shown: of,
    heard: (claim) =>
      Effect.map(monotonicNow, (heardAt) =>
        changed(claim, (lease) => ({ ...lease, heardAt, isUnreachable: false, isResumed: false }))
      ),
    accepted: (claim) =>
      Effect.map(monotonicNow, (heardAt) =>
        changed(claim, (lease) => ({ ...lease, heardAt, isAccepted: true, isResumed: false }))
      ),
    reached: (claim, newestSerial) => Effect.sync(() => changed(claim, (lease) => ({ ...lease, newestSerial }))),
    unreachable: (claim) => Effect.sync(() => changed(claim, (lease) => ({ ...lease, isUnreachable: true }))),
    close: () => Effect.succeed(true),
    end: ({ fence, runId }) =>
      Effect.sync(() => {
        if (leases.get(runId)?.fence === fence) leases.delete(runId)
      }),
    all: Effect.sync(() => [...leases.values()]),
    decided: deciding.withPermits(1)
  })
})

/** Minimum time between two contacts that are counted in the row. The judging server adds this time to every lease. */
const countEvery = seconds(5)
/** Maximum time that one check of the rows adds to an agent's silence, however long ago the previous check was. */
const longestLook = seconds(5)
/** A period of silence long enough to make any lease expire. It is used if a lease has ended for another reason. */
const over = seconds(10_000_000)

const OpenClaim = rowShape({
  ...AgentRunRow.only(
    "run_id",
    "fence",
    "agent_id",
    "kind",
    "lease_seconds",
    "accepted_at",
    "heard",
    "newest_serial",
    "closed_at",
    "node_id"
  ).columns,
  unreachable_since: Schema.NullOr(Timestamp)
})
type OpenClaim = RowOf<typeof OpenClaim.columns>

interface Observed {
  readonly heard: number
  /** Starts below zero after a contact, because the contact may have been counted only after a delay. */
  readonly silentNanos: bigint
  readonly isResumed: boolean
}

const inRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const nodes = yield* Nodes
  const deciding = yield* Semaphore.make(1)
  const observed = new Map<string, Observed>()
  const countedAt = new Map<string, bigint>()
  const serials = new Map<string, number>()
  let lookedAt = yield* monotonicNow

  const nameOf = ({ fence, runId }: typeof RunClaim.Type) => `${runId} ${fence}`
  const claimOf = ({ fence, run_id }: OpenClaim) => ({ runId: run_id, fence })

  const open = sql.literal(`SELECT a.run_id, a.fence, a.agent_id, a.kind, a.lease_seconds, a.accepted_at, a.heard,
    a.newest_serial, a.closed_at, a.node_id, r.agent_unreachable_since AS unreachable_since
    FROM agent_runs a JOIN runs r ON r.id = a.run_id WHERE a.ended_at IS NULL AND a.result IS NULL`)

  /** Compares a row with the result of the last check. `passed` is the time since all rows were last checked. */
  const observe = (row: OpenClaim, passed: bigint): Observed => {
    const name = nameOf(claimOf(row))
    const before = observed.get(name)
    const next =
      before === undefined
        ? { heard: row.heard, silentNanos: 0n, isResumed: true }
        : before.heard === row.heard
          ? { ...before, silentNanos: before.silentNanos + passed }
          : { heard: row.heard, silentNanos: -countEvery, isResumed: false }
    observed.set(name, next)
    return next
  }

  const leaseOf = Effect.fnUntraced(function* (row: OpenClaim, { isResumed, silentNanos }: Observed) {
    // When the job is ready, the server that prepared it counts the first contact.
    const isPreparing = row.heard === 0 && row.accepted_at === null
    const isLeft = isPreparing && row.node_id !== null && (yield* nodes.isGone(row.node_id))
    if (isPreparing && !isLeft) return undefined
    // An earlier judge closed the claim, but ended before it settled the Run.
    const isOver = isLeft || row.closed_at !== null
    const lease: Lease = {
      ...claimOf(row),
      agentId: row.agent_id,
      kind: row.kind,
      leaseSeconds: row.lease_seconds,
      isAccepted: row.accepted_at !== null,
      isUnreachable: row.unreachable_since !== null,
      isResumed,
      heardAt: (yield* monotonicNow) - (isOver ? over : silentNanos),
      newestSerial: row.newest_serial ?? undefined,
      beats: row.heard
    }
    return lease
  })

  const find = Effect.fnUntraced(function* ({ fence, runId }: typeof RunClaim.Type) {
    const [row] = yield* OpenClaim.rows(sql)`${open} AND a.run_id = ${runId} AND a.fence = ${fence}`
    return row
  }, Effect.orDie)

  const of = Effect.fnUntraced(function* (claim: typeof RunClaim.Type) {
    const row = yield* find(claim)
    return row === undefined ? undefined : yield* leaseOf(row, observe(row, 0n))
  })

  const shown = Effect.fnUntraced(function* (claim: typeof RunClaim.Type) {
    const row = yield* find(claim)
    const lease = row === undefined ? undefined : yield* leaseOf(row, observe(row, 0n))
    if (lease === undefined || row?.unreachable_since == null) return lease
    const silentMillis = Math.max(0, (yield* Clock.currentTimeMillis) - Date.parse(row.unreachable_since))
    return { ...lease, heardAt: (yield* monotonicNow) - BigInt(silentMillis) * 1_000_000n }
  })

  const all = Effect.gen(function* () {
    const rows = yield* OpenClaim.rows(sql)`${open} ORDER BY a.run_id, a.fence`
    const at = yield* monotonicNow
    const since = at - lookedAt
    const passed = since > longestLook ? longestLook : since < 0n ? 0n : since
    lookedAt = at
    const names = new Set(rows.map((row) => nameOf(claimOf(row))))
    for (const known of [observed, countedAt, serials]) {
      for (const name of known.keys()) if (!names.has(name)) known.delete(name)
    }
    const leases = yield* Effect.forEach(rows, (row) => leaseOf(row, observe(row, passed)))
    return leases.filter((lease) => lease !== undefined)
  }).pipe(Effect.orDie)

  const count = Effect.fnUntraced(function* (claim: typeof RunClaim.Type) {
    const at = yield* monotonicNow
    countedAt.set(nameOf(claim), at)
    yield* withoutWriteLock(sql`UPDATE agent_runs SET heard = heard + 1 WHERE run_id = ${claim.runId}
      AND fence = ${claim.fence} AND ended_at IS NULL AND closed_at IS NULL`)
  }, Effect.orDie)

  return AgentLeases.of({
    isShared: true,
    grant: (lease, isResumed = false) => (isResumed ? Effect.void : count(lease)),
    of,
    shown,
    heard: Effect.fnUntraced(function* (claim) {
      const last = countedAt.get(nameOf(claim))
      if (last === undefined || (yield* monotonicNow) - last >= countEvery) yield* count(claim)
    }),
    accepted: count,
    reached: Effect.fnUntraced(function* (claim, newestSerial) {
      if (serials.get(nameOf(claim)) === newestSerial) return
      serials.set(nameOf(claim), newestSerial)
      yield* withoutWriteLock(sql`UPDATE agent_runs SET ${AgentRunRow.changes(sql, { newest_serial: newestSerial })}
        WHERE run_id = ${claim.runId} AND fence = ${claim.fence}`)
    }, Effect.orDie),
    // Does nothing, because the Run's row already records that the agent is unreachable.
    unreachable: () => Effect.void,
    close: Effect.fnUntraced(function* ({ beats, fence, runId }) {
      const closed = yield* sql`UPDATE agent_runs SET ${AgentRunRow.changes(sql, { closed_at: yield* now })}
        WHERE run_id = ${runId} AND fence = ${fence} AND heard = ${beats} AND result IS NULL AND ended_at IS NULL
        RETURNING run_id`
      return closed.length > 0
    }, Effect.orDie),
    end: (claim) =>
      Effect.sync(() => {
        for (const known of [observed, countedAt, serials]) known.delete(nameOf(claim))
      }),
    all,
    decided: deciding.withPermits(1)
  })
})
