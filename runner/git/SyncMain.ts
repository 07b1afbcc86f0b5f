import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Exit } from "effect"
import { syncProcess } from "../snapshot/SyncProcess.ts"

// The process of one sync; `SyncProcessCommand` says how it is started. Its input stays open and would keep it alive.
NodeRuntime.runMain(syncProcess.pipe(Effect.provide(NodeServices.layer)), {
  disableErrorReporting: true,
  teardown: (exit) => process.exit(Exit.isSuccess(exit) ? 0 : 1)
})
