import { DatabaseSync } from "node:sqlite"
import { Effect, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Audit } from "../../actors/base/audit/Audit.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import type { KillPointName } from "../../actors/base/KillPoint.ts"
import { storage } from "../../src/composition/Storage.ts"
import type { platform } from "../../src/composition/Platform.ts"
import { loadSettings } from "../../src/settings/Settings.ts"
import { fillYears } from "../actors/ledger/run/support/PruneBesideTraffic.ts"
import { Broken, holds } from "./CrashClient.ts"
import { encodeCrashEnvironment, type KillAt } from "./CrashEnvironment.ts"
import { type ServeOptions, serve } from "./ServerProcess.ts"

/** A removal by a command or a server that is killed before the removal finishes. */
export interface PruneKill {
  readonly name: string
  readonly by: "svc prune" | "a server"
  readonly at: KillAt
}

const pruneKills = (by: PruneKill["by"], points: ReadonlyArray<readonly [KillPointName, number]>) =>
  points.map(
    ([point, passing]): PruneKill => ({ name: `${by} dies at ${point}:${passing}`, by, at: { point, passing } })
  )

/**
 * The points between two steps, one for each kind of removal, and the only point inside a transaction.
 */
export const pruneScenarios: ReadonlyArray<PruneKill> = [
  ...pruneKills("svc prune", [
    ["log_removal.marked", 1],
    ["log_removal.erased", 1],
    ["log_removal.erased", 3],
    ["retention.removed", 1],
    ["retention.passed", 1],
    ["audit_removal.deleted", 1],
    ["audit_removal.removed", 2]
  ]),
  ...pruneKills("a server", [
    ["log_removal.erased", 2],
    ["retention.removed", 1],
    ["retention.passed", 1],
    ["audit_removal.deleted", 2]
  ])
]

const size = { runs: 60, lines: 6000 }
const oldNotes = 450
const youngRuns = 5
const yearsAgo = Date.UTC(2020, 0, 1)
const keepAudit = "30"

/** Creates an installation as it would be after years of use. The newest Runs must be kept. */
const grow = Effect.fnUntraced(function* (dataDir: string) {
  const settings = yield* loadSettings(new Map([["dataDir", dataDir]]), Option.none())
  const years = Effect.gen(function* () {
    const workspaceId = yield* fillYears(size)
    const audit = yield* Audit
    for (let index = 0; index < oldNotes; index++) {
      const target = { kind: "thing", id: String(index) }
      yield* audit.append({ workspaceId, actor: serviceContext.actor, action: "old.note", target })
    }
  }).pipe(Effect.provide(Layer.fresh(storage(settings)), { local: true }))
  // Sets the clock first, because a sleep that has already started is not adjusted.
  yield* Effect.andThen(TestClock.setTime(yearsAgo), years).pipe(Effect.provide(TestClock.layer()))
  yield* Effect.acquireUseRelease(
    Effect.sync(() => new DatabaseSync(`${dataDir}/svc.sqlite`)),
    (database) =>
      Effect.sync(() => {
        const now = new Date().toISOString()
        database
          .prepare(
            `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${youngRuns})
            INSERT INTO runs (id, workspace_id, type, status, requires_approval, trigger_kind, attempt, spec, evidence,
              created_at, queued_at, started_at, finished_at, log_ended_at, last_log_seq)
            SELECT 'run_young' || printf('%019d', i), (SELECT id FROM workspaces WHERE handle = 'one'), 'plan', 'failed', 1,
              'user', 1, '{}', '{}', ?1, ?1, ?1, ?1, ?1, 1 FROM n`
          )
          .run(now)
        database.exec(
          `INSERT INTO run_log_chunks (run_id, first_seq, last_seq, bytes, entries)
          SELECT id, 1, 1, 2, '[]' FROM runs WHERE id LIKE 'run_young%'`
        )
      }),
    (database) => Effect.sync(() => database.close())
  )
})

const Numbers = Schema.Struct({
  oldRuns: Schema.Int,
  oldLogs: Schema.Int,
  waiting: Schema.Int,
  youngRuns: Schema.Int,
  youngLogs: Schema.Int,
  oldEvents: Schema.Int,
  halfRemoved: Schema.Int,
  uncounted: Schema.Int,
  faults: Schema.Int,
  toldRuns: Schema.Int,
  toldLogs: Schema.Int,
  toldEvents: Schema.Int
})

const told = (action: string, field: string) =>
  `(SELECT COALESCE(SUM(json_extract(data, '$.${field}')), 0) FROM audit_events WHERE action = '${action}')`

/** Returns the number of remaining rows, and the numbers of removed rows according to the history. */
const numbersOf = (dataDir: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new DatabaseSync(`${dataDir}/svc.sqlite`)),
    (database) => {
      const row = database
        .prepare(
          `SELECT (SELECT COUNT(*) FROM runs WHERE status = 'superseded') AS oldRuns,
            (SELECT COUNT(DISTINCT c.run_id) FROM run_log_chunks c JOIN runs r ON r.id = c.run_id
              WHERE r.status = 'superseded') AS oldLogs,
            (SELECT COUNT(*) FROM runs WHERE status NOT IN ('superseded', 'failed')) AS waiting,
            (SELECT COUNT(*) FROM runs WHERE status = 'failed') AS youngRuns,
            (SELECT COUNT(*) FROM run_log_chunks WHERE run_id LIKE 'run_young%') AS youngLogs,
            (SELECT COUNT(*) FROM audit_events WHERE created_at < '2021') AS oldEvents,
            (SELECT COUNT(*) FROM runs WHERE log_removing = 1) AS halfRemoved,
            (SELECT COUNT(*) FROM retention_tallies) AS uncounted,
            ${told("retention.remove", "runs")} AS toldRuns,
            ${told("run_log.remove", "runs")} AS toldLogs,
            ${told("audit_event.remove", "events")} AS toldEvents`
        )
        .get()
      const faults =
        database.prepare("PRAGMA foreign_key_check").all().length +
        database.prepare("PRAGMA integrity_check").all().length -
        1
      return Schema.decodeUnknownEffect(Numbers)({ ...row, faults })
    },
    (database) => Effect.sync(() => database.close())
  )

/** Runs a command of the suite program to completion. */
const command = Effect.fnUntraced(function* (program: string, args: ReadonlyArray<string>, killAt?: KillAt) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn([program, ...args], {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        env: {
          PATH: process.env["PATH"] ?? "",
          SVC_TEST_CRASH: encodeCrashEnvironment(killAt === undefined ? {} : { at: killAt })
        }
      })
    ),
    (spawned) => Effect.sync(() => spawned.kill("SIGKILL"))
  )
  const [out, error] = yield* Effect.promise(() =>
    Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  )
  return { code: child.exitCode, signal: child.signalCode, text: `${out}${error}` }
}, Effect.scoped)

const succeeds = Effect.fnUntraced(function* (program: string, args: ReadonlyArray<string>) {
  const { code, text } = yield* command(program, args)
  yield* holds(code === 0, `svc ${args.join(" ")} ended with ${code}: ${text.slice(-2000)}`)
})

/** Starts a server that removes records immediately, and waits until the kill point kills it. */
const killedServer = Effect.fnUntraced(function* (options: ServeOptions) {
  const started = yield* Effect.result(serve(options))
  const { signal } = started._tag === "Failure" ? started.failure : yield* started.success.ended
  return signal
}, Effect.scoped)

/** Kills a removal, repeats it, and compares the remaining records and the history with the originals. */
export const runPruneKill = Effect.fn("runPruneKill")(function* (
  program: string,
  { at, by }: PruneKill,
  root: string
): Effect.fn.Return<number, unknown, Layer.Success<typeof platform>> {
  const dataDir = `${root}/data`
  yield* grow(dataDir)
  const before = yield* numbersOf(dataDir)
  const prune = ["prune", "--data-dir", dataDir, "--keep-audit", keepAudit, "--json"]
  const options: ServeOptions = {
    program,
    dataDir,
    gitOrigin: "http://127.0.0.1:9",
    mirror: root,
    notesDir: root,
    logFile: `${root}/server.log`,
    wrapper: ["env", `SVC_KEEP_AUDIT=${keepAudit}`]
  }
  const signal =
    by === "svc prune" ? (yield* command(program, prune, at)).signal : yield* killedServer({ ...options, killAt: at })
  if (signal !== "SIGKILL") return yield* new Broken({ message: `It was not killed at ${at.point}` })
  if (by === "svc prune") yield* succeeds(program, prune)
  else {
    // The next server resumes the removal immediately, while an operator runs the command concurrently.
    yield* Effect.scoped(
      Effect.gen(function* () {
        const server = yield* serve(options)
        yield* succeeds(program, prune)
        yield* server.signal("SIGTERM")
        const { code } = yield* server.ended
        yield* holds(code === 0, `The last server ended with ${code}`)
      })
    )
  }
  yield* succeeds(program, ["audit", "verify", "--data-dir", dataDir])
  const after = yield* numbersOf(dataDir)
  const expected: typeof after = {
    ...before,
    oldRuns: 0,
    oldLogs: 0,
    oldEvents: 0,
    toldRuns: before.oldRuns,
    toldLogs: before.oldLogs,
    toldEvents: before.oldEvents
  }
  yield* holds(
    JSON.stringify(after) === JSON.stringify(expected),
    `Expected ${JSON.stringify(expected)}, and there is ${JSON.stringify(after)}`
  )
  return 1
}, Effect.scoped)
