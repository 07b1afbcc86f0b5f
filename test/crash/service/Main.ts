// The product's own command line, with additions for tests: a kill point to die at, quick rechecks of authority, and
// folders visible in the sandbox (the demo provider's interpreter and the files that simulate its cloud).
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Schema } from "effect"
import { KillPoint } from "../../../actors/KillPoint.ts"
import { ConfinementCommand } from "../../../runner/sandbox/confinement/ConfinementCommand.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { SyncProcessCommand } from "../../../runner/snapshot/SyncProcessCommand.ts"
import { confineArgument, syncArgument } from "../../../src/BinaryArguments.ts"
import { run, teardown } from "../../../src/cli/Run.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { RecheckInterval } from "../../../src/streams/LiveSubscription.ts"
import { CrashEnvironment } from "../CrashEnvironment.ts"

const { at, readable, writable } = Schema.decodeUnknownSync(CrashEnvironment)(process.env["SVC_TEST_CRASH"] ?? "{}")

let left = at?.passing ?? 0
const args = process.argv.slice(2)

NodeRuntime.runMain(
  run(args).pipe(
    Effect.provide(platform),
    Effect.provideService(KillPoint, (name) =>
      Effect.sync(() => {
        if (name === at?.point && --left === 0) process.kill(process.pid, "SIGKILL")
      })
    ),
    Effect.provideService(RecheckInterval, "100 millis"),
    Effect.provideService(SyncProcessCommand, { program: process.execPath, args: [syncArgument] }),
    Effect.provideService(ConfinementCommand, { program: process.execPath, args: [confineArgument] }),
    Effect.provideService(SandboxSettings, {
      ...defaultSandboxSettings,
      extraReadOnly: readable ?? [],
      extraWritable: writable ?? []
    })
  ),
  { disableErrorReporting: true, teardown: teardown(args) }
)
