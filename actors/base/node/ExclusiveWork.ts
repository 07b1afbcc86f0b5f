import { Cause, Context, Effect, Layer, Schema, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { table } from "../database/Table.ts"
import { transaction } from "../database/Transaction.ts"
import { now } from "../Identity.ts"
import { Nodes } from "./Nodes.ts"

/** Work that only one server does at a time, and locks for decisions that span several transactions. */
export const ExclusiveWorkRow = table("exclusive_work", {
  name: Schema.String,
  node_id: Schema.String,
  taken_at: Timestamp
})

/** Interval between checks for work that another server has given up. */
const lookEvery = "2 seconds"
/** Interval at which a server checks whether it may continue its work. */
const checkEvery = "1 second"
/** Time between attempts to take a lock that another server holds. */
const askEvery = "200 millis"

/**
 * Work that only one server at a time may do. A row records the server that has taken the work. Another server can take the
 * work once the recorded server has shut down or is gone (`Nodes`). With the embedded database there is only one server,
 * which takes all work at once.
 */
export class ExclusiveWork extends Context.Service<
  ExclusiveWork,
  {
    /**
     * Runs the effect if this server has the work or can take it; otherwise does nothing. The server still has the work
     * afterwards.
     */
    readonly onlyHere: (name: string) => <E, R>(effect: Effect.Effect<void, E, R>) => Effect.Effect<void, E, R>
    /**
     * Runs the effect while this server has the work, and runs it again whenever the server regains the work. Waits while
     * another server has the work.
     */
    readonly during: (name: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<never, E, R>
    /** Takes the lock, runs the effect and releases the lock. Waits until no other server and no other fiber holds it. */
    readonly locked: (name: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("svc/actors/base/node/ExclusiveWork") {
  static readonly layer = Layer.effect(
    ExclusiveWork,
    Effect.suspend(() => make)
  )

  /** For a process that is the only one with the database. */
  static readonly alone = Layer.sync(ExclusiveWork, () => unshared)
}

const unshared = ExclusiveWork.of({
  onlyHere: () => (effect) => effect,
  during: () => (effect) => Effect.andThen(effect, Effect.never),
  locked: () => (effect) => effect
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const nodes = yield* Nodes
  if (!nodes.isShared) return unshared

  const holderOf = (name: string) =>
    Effect.map(
      ExclusiveWorkRow.some(sql, "node_id")`SELECT node_id FROM exclusive_work WHERE name = ${name}`,
      ([row]) => row?.node_id
    )

  const isFree = (holder: string | undefined) =>
    holder === undefined || holder === nodes.name ? Effect.succeed(true) : nodes.isGone(holder)

  /** Takes the work. Returns false if another running server has it. */
  const take = Effect.fnUntraced(function* (name: string) {
    if (!(yield* nodes.isCurrent)) return false
    const before = yield* holderOf(name)
    if (before === nodes.name) return true
    // Reads first, because a waiting server must not take the write lock repeatedly.
    if (!(yield* isFree(before))) return false
    return yield* Effect.gen(function* () {
      const holder = yield* holderOf(name)
      if (!(yield* isFree(holder))) return false
      const row = { name, node_id: nodes.name, taken_at: yield* now }
      yield* sql`DELETE FROM exclusive_work WHERE name = ${name}`
      yield* sql`INSERT INTO exclusive_work ${ExclusiveWorkRow.values(sql, row)}`
      return true
    }).pipe(transaction(sql))
  }, Effect.orDie)

  const release = (name: string) =>
    Effect.ignore(sql`DELETE FROM exclusive_work WHERE name = ${name} AND node_id = ${nodes.name}`)

  /**
   * Releases a lock, and retries while the database is unreachable. Otherwise other servers would wait for the lock for as
   * long as this server runs. `restore` allows the retries to be interrupted when the process ends.
   */
  const released = Effect.fnUntraced(function* (
    name: string,
    restore: (wait: Effect.Effect<void>) => Effect.Effect<void>
  ) {
    const remove = sql`DELETE FROM exclusive_work WHERE name = ${name} AND node_id = ${nodes.name}`
    while (!(yield* Effect.isSuccess(remove))) yield* restore(Effect.sleep(askEvery))
  })

  const lost = Effect.gen(function* () {
    while (yield* nodes.isCurrent) yield* Effect.sleep(checkEvery)
  })

  const tried = (name: string) =>
    Effect.catchCause(take(name), (cause) =>
      Effect.as(Effect.logWarning(`The server could not ask for the work ${name}`, cause), false)
    )

  const during =
    (name: string) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<never, E, R> =>
      Effect.gen(function* () {
        while (!(yield* tried(name))) yield* Effect.sleep(lookEvery)
        yield* Effect.logInfo(`This server does the work ${name} now`)
        yield* Effect.raceFirst(Effect.andThen(effect, Effect.never), lost)
        yield* Effect.logWarning(`This server stops the work ${name}, because it could not beat`)
      }).pipe(
        // The effect may have failed because the database was restarted, for example. This server still has the work, so no
        // other server can take it.
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.failCause(cause)
            : Effect.andThen(
                Effect.logError(`The work ${name} failed, and begins again`, cause),
                Effect.sleep(lookEvery)
              )
        ),
        Effect.forever,
        Effect.ensuring(release(name))
      )

  yield* Effect.addFinalizer(() => Effect.ignore(sql`DELETE FROM exclusive_work WHERE node_id = ${nodes.name}`))

  /**
   * Fibers of this server wait for each other before they take the row, because the row records only the server, not the
   * fiber.
   */
  const turns = new Map<string, { readonly turn: Semaphore.Semaphore; waiting: number }>()
  const inTurn = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      const entry = turns.get(name) ?? { turn: Semaphore.makeUnsafe(1), waiting: 0 }
      turns.set(name, entry)
      entry.waiting += 1
      return Effect.ensuring(
        entry.turn.withPermits(1)(effect),
        Effect.sync(() => {
          entry.waiting -= 1
          if (entry.waiting === 0) turns.delete(name)
        })
      )
    })

  return ExclusiveWork.of({
    onlyHere: (name) => (effect) =>
      Effect.flatMap(tried(name), (isTaken) => (isTaken ? Effect.raceFirst(effect, lost) : Effect.void)),
    during,
    // A server that has been declared gone must not keep waiting for a lock, so the wait ends when the server's process
    // ends.
    locked: (name) => (effect) =>
      inTurn(
        name,
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            while (!(yield* tried(name))) yield* restore(Effect.sleep(askEvery))
            return yield* Effect.ensuring(restore(effect), released(name, restore))
          })
        )
      )
  })
})
