import { NodeRuntime } from "@effect/platform-node"
import { Clock, Effect, Schema } from "effect"
import { KillPoint } from "../../../actors/base/KillPoint.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { teardown } from "../../../src/cli/CommandLine.ts"
import { run } from "../../../src/cli/Run.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { RecheckInterval } from "../../../src/streams/LiveSubscription.ts"
import { CrashEnvironment } from "../CrashEnvironment.ts"

/** Returns a clock whose wall time is ahead of the given clock. Elapsed time is the same on both clocks. */
const aheadOf = (clock: Clock.Clock, millis: number): Clock.Clock => {
  const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + millis
  const currentTimeNanosUnsafe = () => clock.currentTimeNanosUnsafe() + BigInt(millis) * 1_000_000n
  return {
    currentTimeMillisUnsafe,
    currentTimeNanosUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}

/**
 * Runs the product's own command line, with additions for tests: a kill point, quick rechecks of authority, and extra
 * folders in the sandbox (the demo provider's interpreter and the files that simulate its cloud). `provided` defines how
 * this program starts the other processes it needs.
 */
export const crashService = (provided: <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>): void => {
  const {
    at,
    clockOffset = 0,
    readable,
    usualRechecks,
    writable
  } = Schema.decodeUnknownSync(CrashEnvironment)(process.env["SVC_TEST_CRASH"] ?? "{}")
  let left = at?.passing ?? 0
  const args = process.argv.slice(2)
  NodeRuntime.runMain(
    run(args).pipe(
      Effect.provide(platform),
      provided,
      Effect.provideService(KillPoint, (name) =>
        Effect.sync(() => {
          if (name === at?.point && --left === 0) process.kill(process.pid, at.signal ?? "SIGKILL")
        })
      ),
      Effect.provideService(RecheckInterval, usualRechecks === true ? "5 seconds" : "100 millis"),
      Effect.updateService(Clock.Clock, (clock) => (clockOffset === 0 ? clock : aheadOf(clock, clockOffset))),
      Effect.provideService(SandboxSettings, {
        ...defaultSandboxSettings,
        extraReadOnly: readable ?? [],
        extraWritable: writable ?? []
      })
    ),
    { disableErrorReporting: true, teardown: teardown(args) }
  )
}
