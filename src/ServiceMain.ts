import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { run, teardown } from "./cli/Run.ts"
import { platform } from "./composition/Platform.ts"
import { compileSchemas, onceStarted } from "./SchemaCompilation.ts"

const args = process.argv.slice(2)

NodeRuntime.runMain(
  Effect.forkChild(onceStarted(compileSchemas)).pipe(Effect.andThen(run(args)), Effect.provide(platform)),
  {
    disableErrorReporting: true,
    teardown: teardown(args)
  }
)
