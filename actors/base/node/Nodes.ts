import { Context, Deferred, Duration, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, rowShape, table } from "../database/Table.ts"
import { transaction } from "../database/Transaction.ts"
import { withoutWriteLock } from "../database/WriteLock.ts"
import { now } from "../Identity.ts"
import { monotonicNow } from "../MonotonicNow.ts"

/**
 * The servers of a database. A server's name consists of its installation and a sequence number that counts all servers ever
 * started.
 */
export const NodeRow = table(
  "nodes",
  {
    id: Schema.String,
    incarnation: Schema.Int,
    /** Number of heartbeats that the server has written. */
    beats: Schema.Int,
    release: Schema.String,
    /** Human-readable name of the machine. */
    label: Schema.String,
    started_at: Timestamp,
    beat_at: Timestamp,
    /**
     * The time at which another server declared this server gone, because it had been silent for too long. The value never
     * changes afterwards.
     */
    gone_at: Schema.NullOr(Timestamp)
  },
  ["beats"]
)
export type NodeRow = RowOf<typeof NodeRow.columns>

/** True if several servers may use the database at the same time. The embedded database serves one process. */
export const SharedDatabase = Context.Reference<boolean>("svc/actors/base/node/SharedDatabase", {
  defaultValue: () => false
})

/** The name of the server's machine, and the release that the server runs. */
export interface NodeLabelShape {
  readonly label: string
  readonly release: string
}

export const NodeLabel = Context.Reference<NodeLabelShape>("svc/actors/base/node/NodeLabel", {
  defaultValue: () => ({ label: "", release: "" })
})

const beatEvery = Duration.seconds(2)
/** Time without a heartbeat after which other servers declare a server gone. */
const goneAfter = Duration.seconds(10)
/**
 * If a server has been unable to write a heartbeat for this long, it stops its work before other servers can declare it
 * gone.
 */
const currentFor = Duration.seconds(8)

const nanosOf = (duration: Duration.Duration) => Duration.toNanosUnsafe(duration)

const Incarnation = rowShape({ installation_id: Schema.String, incarnation: Schema.Int })
type Incarnation = RowOf<typeof Incarnation.columns>

const nameOf = ({ incarnation, installation_id }: Incarnation): string => `${installation_id}#${incarnation}`

/**
 * Returns the sequence number in an owner's name if the owner is a server of this installation, or `undefined` otherwise.
 */
const incarnationOf = (owner: string, { installation_id }: Incarnation): Option.Option<number> => {
  const [installation, number, ...more] = owner.split("#")
  return installation === installation_id && number !== undefined && /^\d+$/.test(number) && more.length === 0
    ? Option.some(Number(number))
    : Option.none()
}

/**
 * Returns the names of the running servers except `except`, by observing their heartbeats. A server that ended without shutting
 * down keeps its row until another server declares it gone, so the row alone does not prove that the server is running.
 */
export const beatingServers = Effect.fn("beatingServers")(function* (except: string | undefined) {
  const sql = yield* SqlClient.SqlClient
  const read = NodeRow.some(sql, "id", "beats")`SELECT id, beats FROM nodes WHERE gone_at IS NULL`
  const before = (yield* read).filter(({ id }) => id !== except)
  if (before.length === 0) return []
  yield* Effect.sleep(Duration.times(beatEvery, 2))
  const after = yield* read
  return before.flatMap(({ beats, id }) => (after.some((now) => now.id === id && now.beats !== beats) ? [id] : []))
}, Effect.orDie)

/** The time for which this server has seen no new heartbeat from another server. */
interface Observed {
  readonly beats: number
  readonly silentNanos: bigint
}

/**
 * The servers that share the database. Each writes heartbeats to its row, and the others watch whether the row changes. An observer
 * measures silence by its own monotonic clock, and only while it can reach the database. Therefore a wrong clock, a frozen
 * observer or a database outage never causes a running server to be declared gone.
 *
 * With the embedded database there is only one server, and all earlier ones are gone.
 */
export class Nodes extends Context.Service<
  Nodes,
  {
    /** The name under which this server owns Runs and work. */
    readonly name: string
    readonly isShared: boolean
    /** Returns true if the owner of a Run was a server that has ended. Returns false for agents. */
    readonly isGone: (owner: string) => Effect.Effect<boolean>
    /** True while it is impossible that another server has declared this server gone. */
    readonly isCurrent: Effect.Effect<boolean>
    /** Writes one heartbeat and observes the other servers once. */
    readonly turn: Effect.Effect<void>
    /** Writes heartbeats and observes the other servers until interrupted. */
    readonly work: Effect.Effect<never>
    /**
     * Completes once another server has declared this server gone. This server must then stop, because the other servers
     * settle its Runs.
     */
    readonly expelled: Effect.Effect<void>
    /** The number of servers that this server considers running, including itself. Limits are divided among them. */
    readonly count: Effect.Effect<number>
    /** The servers that are not gone, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<NodeRow>>
  }
>()("svc/actors/base/node/Nodes") {
  static readonly layer = Layer.effect(
    Nodes,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const shared = yield* SharedDatabase
  const { label, release } = yield* NodeLabel
  const expelled = yield* Deferred.make<void>()

  const join = Effect.gen(function* () {
    const [own] = yield* Incarnation.rows(sql)`UPDATE installation SET incarnation = incarnation + 1
      RETURNING installation_id, incarnation`
    if (own === undefined) {
      return yield* Effect.die(new Error("The database does not say which installation it is of."))
    }
    const id = nameOf(own)
    const at = yield* now
    if (!shared) yield* sql`DELETE FROM nodes`
    yield* sql`INSERT INTO nodes ${NodeRow.values(sql, {
      id,
      incarnation: own.incarnation,
      release,
      label,
      started_at: at,
      beat_at: at
    })}`
    return { own, id }
  }).pipe(transaction(sql))

  const { id, own } = yield* join
  const observed = new Map<string, Observed>()
  let living = 1
  let lookedAt = yield* monotonicNow
  let beatAt = lookedAt

  const beat = Effect.gen(function* () {
    // Reads the clock before the statement runs, because other servers may see the heartbeat at any time after that.
    const at = yield* monotonicNow
    const kept = yield* withoutWriteLock(
      NodeRow.some(sql, "beats")`UPDATE nodes SET beats = beats + 1, beat_at = ${yield* now}
        WHERE id = ${id} AND gone_at IS NULL RETURNING beats`
    )
    if (kept.length > 0) beatAt = at
    else if (yield* Deferred.succeed(expelled, undefined)) {
      yield* Effect.logError(`Other servers have counted this one (${id}) as gone, and settle its Runs. It must end.`)
    }
  })

  /** Marks a server as gone, unless it has written a heartbeat in the meantime. */
  const declare = Effect.fnUntraced(function* (other: Pick<NodeRow, "beats" | "id">) {
    const gone = yield* sql`UPDATE nodes SET ${NodeRow.changes(sql, { gone_at: yield* now })}
      WHERE id = ${other.id} AND beats = ${other.beats} AND gone_at IS NULL RETURNING id`
    observed.delete(other.id)
    if (gone.length > 0) yield* Effect.logWarning(`The server ${other.id} is silent and counts as gone`)
  })

  const look = Effect.gen(function* () {
    const others = yield* NodeRow.some(sql, "id", "beats")`SELECT id, beats FROM nodes
      WHERE id <> ${id} AND gone_at IS NULL`
    const at = yield* monotonicNow
    // Excludes periods in which this server observed nothing, because it was frozen or could not reach the database.
    const passed = at - lookedAt > 2n * nanosOf(beatEvery) ? 2n * nanosOf(beatEvery) : at - lookedAt
    lookedAt = at
    for (const other of others) {
      const known = observed.get(other.id)
      const silentNanos = known?.beats === other.beats ? known.silentNanos + passed : 0n
      observed.set(other.id, { beats: other.beats, silentNanos })
      if (silentNanos > nanosOf(goneAfter)) yield* declare(other)
    }
    for (const known of observed.keys()) {
      if (!others.some((other) => other.id === known)) observed.delete(known)
    }
    living = observed.size + 1
  })

  const turn = (shared ? Effect.andThen(beat, look) : Effect.void).pipe(
    Effect.catchCause((cause) => Effect.logWarning("The server could not beat. It is tried again.", cause)),
    Effect.withSpan("Nodes.turn")
  )

  const isGone = Effect.fnUntraced(function* (owner: string) {
    const incarnation = incarnationOf(owner, own)
    if (owner === id || Option.isNone(incarnation)) return false
    if (!shared) return incarnation.value < own.incarnation
    // A server inserts its row before it owns anything, and removes the row when it shuts down.
    const [row] = yield* NodeRow.some(sql, "gone_at")`SELECT gone_at FROM nodes WHERE id = ${owner}`
    return row === undefined || row.gone_at !== null
  }, Effect.orDie)

  // Other servers then know immediately that this server is gone. If this statement fails, they detect the missing
  // heartbeats later.
  yield* Effect.addFinalizer(() => Effect.ignore(sql`DELETE FROM nodes WHERE id = ${id}`))

  return Nodes.of({
    name: id,
    isShared: shared,
    isGone,
    isCurrent: shared
      ? Effect.map(monotonicNow, (at) => !Deferred.isDoneUnsafe(expelled) && at - beatAt < nanosOf(currentFor))
      : Effect.succeed(true),
    turn,
    work: shared ? Effect.forever(Effect.andThen(turn, Effect.sleep(beatEvery))) : Effect.never,
    expelled: Deferred.await(expelled),
    count: Effect.sync(() => living),
    list: Effect.orDie(NodeRow.rows(sql)`SELECT * FROM nodes WHERE gone_at IS NULL ORDER BY incarnation`)
  })
})
