import { mkdirSync, renameSync, rmSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Cause, Effect, Layer, Queue, Schema, Stream } from "effect"
import { SyncExecutor, type SyncExecutorShape } from "../../runner/snapshot/SyncExecutor.ts"
import { SyncProcessCommand } from "../../runner/snapshot/SyncProcessCommand.ts"
import { SyncJobText, type SyncOutcome, SyncOutcomeText } from "../../runner/snapshot/SyncProtocol.ts"
import { runSyncJob } from "../../runner/snapshot/SyncWorker.ts"

const entry = fileURLToPath(new URL("../../runner/git/SyncMain.ts", import.meta.url))
const cache = fileURLToPath(new URL("../../node_modules/.cache/svc-test/", import.meta.url))

const bundle = "SyncMain.js"

let program: string | undefined

/** Compiles the sync program once per test process, because a small sync from source spends most of its time loading modules. */
const bundled = (): string => {
  if (program !== undefined) return program
  const fresh = `${cache}${process.pid}/`
  mkdirSync(fresh, { recursive: true })
  const flags = ["--target=bun", "--format=cjs", "--minify", "--bytecode", `--outdir=${fresh}`]
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "build", ...flags, entry])
  if (exitCode !== 0) throw new Error(`The program of a sync could not be bundled: ${stderr.toString()}`)
  // Bun ignores bytecode from other sources, so two test processes may compile at the same time.
  for (const name of [`${bundle}.jsc`, bundle]) renameSync(`${fresh}${name}`, `${cache}${name}`)
  rmSync(fresh, { recursive: true })
  program = `${cache}${bundle}`
  return program
}

/** Starts sync processes from a bundle. A service in a separate process, such as `svc serve`, starts them from source. */
export const bundledSync = Layer.succeed(SyncProcessCommand, {
  program: process.execPath,
  get args() {
    return [bundled()]
  }
})

const executeHere: SyncExecutorShape["execute"] = Effect.fnUntraced(function* (job, { onProgress }) {
  const received = yield* Effect.orDie(
    Effect.flatMap(Schema.encodeEffect(SyncJobText)(job), Schema.decodeEffect(SyncJobText))
  )
  const lines = yield* Queue.unbounded<string, Cause.Done>()
  const outcome = runSyncJob(received, (line) => Queue.offerUnsafe(lines, line)).pipe(
    Effect.map((snapshot): SyncOutcome => ({ status: "synced", snapshot })),
    Effect.catch((error) => Effect.succeed<SyncOutcome>({ status: "failed", error })),
    Effect.ensuring(Queue.end(lines))
  )
  const [sent] = yield* Effect.all([outcome, Stream.runForEach(Stream.fromQueue(lines), onProgress)], {
    concurrency: 2
  })
  return yield* Effect.orDie(
    Effect.flatMap(Schema.encodeEffect(SyncOutcomeText)(sent), Schema.decodeEffect(SyncOutcomeText))
  )
})

/**
 * Runs syncs inside the test process, because starting a process takes longer than fetching and archiving a test's repository.
 * The job and the outcome are still encoded and decoded.
 */
export const syncsInThisProcess = Layer.succeed(SyncExecutor, { execute: executeHere })

/** Runs syncs in separate processes, as in production, to test these processes. */
export const syncsInProcesses = Layer.sync(SyncExecutor, () => SyncExecutor.defaultValue())
