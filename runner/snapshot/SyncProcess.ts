import { Effect, Schema, Stdio, Stream } from "effect"
import { runSyncJob } from "./SyncWorker.ts"
import { type SyncOutcome, SyncOutcomeText, SyncJobText } from "./SyncProtocol.ts"

const newline = "\n"

/** Kills this process and its descendants, including native git's children, provided that it leads a process group. */
const endProcessGroup = Effect.try(() => process.kill(-process.pid, "SIGKILL")).pipe(Effect.ignore)

/**
 * Performs one sync: reads its job, executes it, and writes the outcome. Exits early if its input closes, because in that
 * case the result is no longer needed. Run by `git/SyncMain.ts` or by a hidden command of a compiled binary.
 */
export const syncProcess = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  const lines = yield* Stream.toPull(stdio.stdin.pipe(Stream.decodeText(), Stream.splitLines))
  const [text] = yield* lines
  const job = yield* Schema.decodeEffect(SyncJobText)(text)
  const abandoned = lines.pipe(
    Effect.forever,
    Effect.catch(() => endProcessGroup),
    Effect.andThen(Effect.interrupt)
  )
  const emit = (line: string) => {
    process.stderr.write(`${line}${newline}`)
  }
  const outcome = yield* runSyncJob(job, emit).pipe(
    Effect.map((snapshot): SyncOutcome => ({ status: "synced", snapshot })),
    Effect.catch((error) => Effect.succeed<SyncOutcome>({ status: "failed", error })),
    Effect.raceFirst(abandoned)
  )
  const answer = yield* Schema.encodeEffect(SyncOutcomeText)(outcome)
  yield* Stream.make(answer).pipe(Stream.run(stdio.stdout({ endOnDone: true })))
}).pipe(Effect.scoped)
