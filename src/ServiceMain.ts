// Compiles schemas on first use, instead of interpreting them. Must be imported before anything that uses a schema.
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { run, teardown } from "./cli/Run.ts"
import { platform } from "./composition/Platform.ts"

const args = process.argv.slice(2)

NodeRuntime.runMain(run(args).pipe(Effect.provide(platform)), {
  disableErrorReporting: true,
  teardown: teardown(args)
})
