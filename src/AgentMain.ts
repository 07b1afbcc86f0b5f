// Loaded by an agent, see `cli/ClientCommandNames.ts`.
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { agentSvc } from "./cli/agent/AgentRoot.ts"
import { commandLine, teardown } from "./cli/CommandLine.ts"
import { platform } from "./composition/Platform.ts"

const args = process.argv.slice(2)

NodeRuntime.runMain(commandLine(agentSvc)(args).pipe(Effect.provide(platform)), {
  disableErrorReporting: true,
  teardown: teardown(args)
})
