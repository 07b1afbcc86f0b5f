// Loaded by commands that are clients of a server, see `cli/ClientCommandNames.ts`.
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { clientSvc } from "./cli/ClientRoot.ts"
import { commandLine, teardown } from "./cli/CommandLine.ts"
import { plainPlatform } from "./composition/PlainPlatform.ts"

const args = process.argv.slice(2)

NodeRuntime.runMain(commandLine(clientSvc)(args).pipe(Effect.provide(plainPlatform)), {
  disableErrorReporting: true,
  teardown: teardown(args)
})
