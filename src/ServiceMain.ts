import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { run, teardown } from "./cli/Run.ts"
import { platform } from "./composition/Platform.ts"
import { compileSchemas } from "./SchemaCompilation.ts"

const args = process.argv.slice(2)

const compiling = Effect.delay(compileSchemas, "250 millis")

NodeRuntime.runMain(Effect.forkChild(compiling).pipe(Effect.andThen(run(args)), Effect.provide(platform)), {
  disableErrorReporting: true,
  teardown: teardown(args)
})
