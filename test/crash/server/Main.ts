// The product's own command line, with two things that tests need: a kill point to die at, and folders that the sandbox
// shows (the demo provider's interpreter and the files that are its cloud).
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Schema } from "effect"
import { KillPoint } from "../../../actors/run/KillPoint.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { run, teardown } from "../../../src/cli/Run.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { CrashEnvironment } from "../CrashEnvironment.ts"

const { at, writable } = Schema.decodeUnknownSync(CrashEnvironment)(process.env["SVC_TEST_CRASH"] ?? "{}")

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
    Effect.provideService(SandboxSettings, {
      ...defaultSandboxSettings,
      extraReadOnly: [process.execPath],
      extraWritable: writable ?? []
    })
  ),
  { disableErrorReporting: true, teardown: teardown(args) }
)
