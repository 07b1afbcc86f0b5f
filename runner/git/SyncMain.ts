import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit } from "effect"
import { syncProcess } from "../snapshot/SyncProcess.ts"

// Entry point of the process that runs one sync; see `SyncProcessCommand`. This file has few imports, so that the process
// starts quickly. The parent process must kill it, because its input never closes.
NodeRuntime.runMain(syncProcess.pipe(Effect.provide(NodeServices.layer)), {
  disableErrorReporting: true,
  teardown: (exit) => process.exit(Exit.isSuccess(exit) ? 0 : 1)
})
