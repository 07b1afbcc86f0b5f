import { Cause, Effect, Exit, Option, Redacted, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { stateContents } from "../../../runner/execution/StateContents.ts"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import { derivedSecrets } from "../../../runner/execution/RunSession.ts"
import { CapsuleId, StateVersionId } from "../../../schema/records/Ids.ts"
import { DatabaseFile } from "../../base/database/DatabaseFile.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { StateIndex } from "./StateIndex.ts"
import { StateVersions } from "./StateVersions.ts"

/** Number of StateVersions between two progress messages. */
const reportEvery = 1000

const Waiting = rowShape({ capsule_id: CapsuleId, count: Schema.Int })
const Next = rowShape({ id: StateVersionId })
const Unchecked = rowShape({ capsule_id: CapsuleId })

/** SQL condition for StateVersions that have not been indexed yet. */
const unread = `v.generation > COALESCE((SELECT MAX(i.generation) FROM state_indexes i WHERE i.capsule_id = v.capsule_id), 0)`

/** Decrypts a state and its secrets. If decryption fails, returns neither. */
const opened = Effect.fnUntraced(function* (id: StateVersionId) {
  const states = yield* StateVersions
  const row = yield* states.find(id)
  if (row === undefined) return undefined
  const contents = yield* Effect.exit(
    Effect.gen(function* () {
      // If no secrets were recorded, any value in the state may be a secret.
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

const toIndexed = ({ row, secrets, state }: NonNullable<Effect.Success<ReturnType<typeof opened>>>) => ({
  id: row.id,
  workspaceId: row.workspace_id,
  capsuleId: row.capsule_id,
  generation: row.generation,
  runId: row.created_by_run_id,
  createdAt: row.created_at,
  state,
  secrets
})

const checkCapsule = Effect.fn("StateBacklog.checkCapsule")(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const index = yield* StateIndex
  const versions = yield* Next.rows(sql)`SELECT state_version_id AS id FROM state_indexes
    WHERE capsule_id = ${capsuleId} AND outcome = 'unchecked' ORDER BY generation`
  let newest: ReturnType<typeof toIndexed> | undefined
  const earlier: Array<SecretText> = []
  for (const { id } of versions) {
    const version = yield* opened(id)
    if (version === undefined) continue
    newest = toIndexed(version)
    earlier.push(...(version.secrets ?? []))
    if (version.state !== undefined) {
      const contents = yield* stateContents(Redacted.value(version.state), () => {})
      if (Option.isSome(contents)) earlier.push(...derivedSecrets("state", contents.value.sensitiveTexts))
    }
    yield* Effect.yieldNow
  }
  if (newest === undefined) return
  const { secrets } = newest
  const checked = { ...newest, secrets: secrets === undefined ? undefined : [...secrets, ...earlier] }
  yield* index.prepareCheck(checked)
  yield* transaction(sql)(index.check(checked))
})

/**
 * Hides secret instance keys that earlier releases stored. Processes one Capsule per transaction, so an interrupted pass can
 * resume.
 */
const checkEarlierKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* Unchecked.rows(sql)`SELECT DISTINCT capsule_id FROM state_indexes
    WHERE outcome = 'unchecked' ORDER BY capsule_id`
  if (capsules.length === 0) return
  yield* Effect.logInfo(
    `Hiding secret instance keys in the lists of resources of ${capsules.length} Capsules, from the states of earlier releases.`
  )
  for (const { capsule_id } of capsules) yield* checkCapsule(capsule_id)
  // Checkpoints the write-ahead log, because it may still contain the keys.
  yield* Effect.ignore((yield* DatabaseFile).checkpoint)
  yield* Effect.logInfo(`Hid the secret instance keys of ${capsules.length} Capsules.`)
})

const readNext = Effect.fn("StateBacklog.readNext")(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const index = yield* StateIndex
  const [next] = yield* Next.rows(sql)`SELECT v.id FROM state_versions v
    WHERE v.capsule_id = ${capsuleId} AND ${sql.literal(unread)} ORDER BY v.generation LIMIT 1`
  if (next === undefined) return false
  const version = yield* opened(next.id)
  // The StateVersion has been removed, so the next pass will not find it.
  if (version === undefined) return true
  const indexed = toIndexed(version)
  yield* index.prepare(indexed)
  yield* transaction(sql)(index.add(indexed))
  return true
})

/**
 * Checks index entries of earlier releases again, and indexes StateVersions that were committed before the index existed,
 * for each Capsule from the oldest to the newest. Each step has a separate transaction, so an interrupted pass can resume
 * and other writers are not blocked.
 */
export const readBacklog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* checkEarlierKeys
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

/** Runs `readBacklog` until it succeeds, even if the disk is full for a while. */
export const readWholeBacklog = readBacklog.pipe(
  Effect.tapCause((cause) =>
    Effect.logError("States of earlier releases could not be read; the next try is in a minute.", cause)
  ),
  Effect.sandbox,
  Effect.retry(Schedule.spaced("1 minute")),
  Effect.ignore
)
