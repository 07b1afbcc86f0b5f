import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { syncProcess } from "../snapshot/SyncProcess.ts"

// The process of one sync; `SyncProcessCommand` says how it is started.
NodeRuntime.runMain(syncProcess.pipe(Effect.provide(NodeServices.layer)), { disableErrorReporting: true })
