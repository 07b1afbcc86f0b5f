import { Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { retention, type RetentionPeriod } from "../../../schema/records/Retention.ts"
import { AgentFileRemoval } from "../../running/agent/AgentFileRemoval.ts"
import { AuditRemoval } from "../../base/audit/AuditRemoval.ts"
import { CredentialsInUse } from "../../inputs/connection/CredentialsInUse.ts"
import { TokenRenewals } from "../../inputs/connection/TokenRenewals.ts"
import { releaseEmptyPages } from "../../base/database/EmptyPages.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { cleanUpBuilds } from "../../ledger/build/BuildCleanup.ts"
import { DeferredFollows } from "../../commands/capsule/DeferredFollows.ts"
import { DriftSchedule } from "../../commands/capsule/DriftSchedule.ts"
import { OutdatedPlans } from "../../running/execution/OutdatedPlans.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { now } from "../../base/Identity.ts"
import { ExclusiveWork } from "../../base/node/ExclusiveWork.ts"
import { AgentNotices } from "../../running/agent-pool/AgentNotices.ts"
import { reportExpiring } from "../../inputs/connection/ConnectionNotices.ts"
import { SilentAgents } from "../../running/agent-pool/SilentAgents.ts"
import { ProvidedMarks } from "../../running/agent-pool/ProvidedMarks.ts"
import { RecordRemoval } from "../retention/RecordRemoval.ts"
import { StoredBytes } from "../retention/StoredBytes.ts"
import { RunGroups } from "../../running/run-group/RunGroups.ts"
import { SourceSchedule } from "../../commands/source/SourceSchedule.ts"
import { LogRemoval } from "../../ledger/run/LogRemoval.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { StateUploads } from "../../ledger/state/StateUploads.ts"

/** Interval between cleanups. */
const interval: Duration.Input = "1 minute"

const before = ({ after }: RetentionPeriod) =>
  Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis - Duration.toMillis(after)).toISOString())

/** Expires plans that were not applied in time, whether or not they were approved. */
export const expirePlans = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  for (const id of yield* ledger.expiredPlans(yield* now)) yield* transaction(sql)(ledger.expirePlan(id))
})

/** Deletes receipts, and syncs that found nothing, after their retention period. */
export const purge = Effect.gen(function* () {
  const receipts = yield* Receipts
  yield* receipts.purge(yield* before(retention.idempotency))
  yield* (yield* RunLedger).purgeEmptySyncs(yield* before(retention.emptySync))
})

const guarded = <E, R>(name: string, work: Effect.Effect<unknown, E, R>) =>
  Effect.catchCause(work, (cause) => Effect.logError(`Cleanup failed: ${name}`, cause))

/** Runs each due task once, except for tasks that clean up this machine's own files. */
const sharedTasks = Effect.gen(function* () {
  const schedule = yield* SourceSchedule
  const follows = yield* DeferredFollows
  const held = yield* CredentialsInUse
  const drift = yield* DriftSchedule
  const tokens = yield* TokenRenewals
  const groups = yield* RunGroups
  const logs = yield* LogRemoval
  const audit = yield* AuditRemoval
  const records = yield* RecordRemoval
  yield* guarded("supersede plans of another tool", (yield* OutdatedPlans).supersede)
  yield* guarded("supersede plans of replaced credentials", (yield* ProvidedMarks).voidReplaced)
  yield* guarded("expire plans", expirePlans)
  yield* guarded("sync due Sources", schedule.syncDue)
  yield* guarded("follow lanes", follows.followAll)
  yield* guarded("check drift", drift.checkDue)
  yield* guarded("go on with updates", groups.advanceAll)
  yield* guarded("purge", purge)
  yield* guarded("erase unused states", (yield* StateUploads).eraseUnused)
  yield* guarded("release replaced values", held.release)
  yield* guarded("revoke tokens", tokens.revokeEnded)
  yield* guarded("report agents", (yield* AgentNotices).report)
  yield* guarded("report expiring Connections", reportExpiring)
  yield* guarded("forget agents", (yield* SilentAgents).forget)
  // Runs last, because no other task depends on it and because there may be a lot of data to delete if it has not run for
  // months.
  yield* guarded("remove logs", logs.removeSome)
  yield* guarded("remove audit events", audit.removeSome)
  yield* guarded("remove records", records.removeSome)
  yield* guarded("count stored bytes", (yield* StoredBytes).measureSometimes)
})

const turn = Effect.gen(function* () {
  yield* (yield* ExclusiveWork).onlyHere("cleanup")(sharedTasks)
  yield* guarded("remove files of agents", (yield* AgentFileRemoval).removeSome)
  yield* cleanUpBuilds
  yield* guarded("release empty pages", releaseEmptyPages)
})

type Rhythm = <R>(turn: Effect.Effect<void, never, R>) => Effect.Effect<void, never, R>

export const atStartAndEveryMinute: Rhythm = (turn) =>
  guarded("the whole turn", turn).pipe(Effect.andThen(Effect.sleep(interval)), Effect.forever)

/** The schedule of the cleanup. Hosts that trigger the cleanup themselves, such as tests, provide a different schedule. */
export const CleanupRhythm = Context.Reference<Rhythm>("svc/actors/upkeep/cleanup/CleanupRhythm", {
  defaultValue: () => atStartAndEveryMinute
})

/** Runs the cleanup in the background. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const rhythm = yield* CleanupRhythm
    yield* Effect.forkScoped(rhythm(turn))
  })
)
