import { Cause, Effect, Exit, Option, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleId, StateVersionId } from "../../schema/records/Ids.ts"
import { rowShape } from "../database/Table.ts"
import { transaction } from "../database/Transaction.ts"
import { StateIndex } from "./StateIndex.ts"
import { StateVersions } from "./StateVersions.ts"

/** Progress is logged each time this many StateVersions have been read. */
const reportEvery = 1000

const Waiting = rowShape({ capsule_id: CapsuleId, count: Schema.Int })
const Next = rowShape({ id: StateVersionId })

/** Which StateVersions of a Capsule have yet to be read. */
const unread = `v.generation > COALESCE((SELECT MAX(i.generation) FROM state_indexes i WHERE i.capsule_id = v.capsule_id), 0)`

/** The state and its secrets; neither if it cannot be opened. */
const opened = Effect.fnUntraced(function* (id: StateVersionId) {
  const states = yield* StateVersions
  const row = yield* states.find(id)
  if (row === undefined) return undefined
  const contents = yield* Effect.exit(
    Effect.gen(function* () {
      // Without a record of its secrets, it may contain any secret.
      const secrets = row.sealed_secrets === null ? undefined : yield* states.secrets(row)
      return { state: yield* states.openStored(row), secrets }
    })
  )
  if (Exit.isSuccess(contents)) {
    const { secrets, state } = contents.value
    return Option.isNone(state) ? undefined : { row, secrets, state: state.value }
  }
  if (Cause.hasInterrupts(contents.cause)) return yield* Effect.failCause(contents.cause)
  yield* Effect.logError(`The state of ${id} cannot be opened, so its resources are not listed.`, contents.cause)
  return { row, state: undefined, secrets: undefined }
})

const readNext = Effect.fn("StateBacklog.readNext")(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const index = yield* StateIndex
  const [next] = yield* Next.rows(sql)`SELECT v.id FROM state_versions v
    WHERE v.capsule_id = ${capsuleId} AND ${sql.literal(unread)} ORDER BY v.generation LIMIT 1`
  if (next === undefined) return false
  const version = yield* opened(next.id)
  // Removed in the meantime: the next pass will not find it.
  if (version === undefined) return true
  const { row, secrets, state } = version
  yield* transaction(sql)(
    index.add({
      id: row.id,
      workspaceId: row.workspace_id,
      capsuleId,
      generation: row.generation,
      runId: row.created_by_run_id,
      createdAt: row.created_at,
      state,
      secrets
    })
  )
  return true
})

/**
 * Reads the StateVersions that were committed by releases without an index, one at a time and each in its own transaction, so
 * that it resumes where it was interrupted and blocks no other writer. Each Capsule's StateVersions are read oldest first.
 */
export const readBacklog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const waiting = yield* Waiting.rows(sql)`SELECT v.capsule_id, COUNT(*) AS count FROM state_versions v
    WHERE ${sql.literal(unread)} GROUP BY v.capsule_id ORDER BY v.capsule_id`
  const total = waiting.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return
  yield* Effect.logInfo(`Reading what ${total} states of earlier releases contain, for the lists of resources.`)
  let read = 0
  for (const { capsule_id } of waiting) {
    while (yield* readNext(capsule_id)) {
      read += 1
      if (read % reportEvery === 0) yield* Effect.logInfo(`Read ${read} of ${total} states of earlier releases.`)
      yield* Effect.yieldNow
    }
  }
  yield* Effect.logInfo(`Read all ${read} states of earlier releases.`)
}).pipe(Effect.orDie, Effect.withSpan("StateBacklog.readBacklog"))

/** Like the above, retried for as long as it takes: a full disk does not stop it. */
export const readWholeBacklog = readBacklog.pipe(
  Effect.tapCause((cause) =>
    Effect.logError("States of earlier releases could not be read; the next try is in a minute.", cause)
  ),
  Effect.sandbox,
  Effect.retry(Schedule.spaced("1 minute")),
  Effect.ignore
)
