import { Effect } from "effect"
import { run } from "./cli/Run.ts"
import { runMain } from "./cli/RunMain.ts"
import { platform } from "./composition/Platform.ts"
import { compileSchemas, onceStarted } from "./SchemaCompilation.ts"

const args = process.argv.slice(2)

runMain(args, Effect.forkChild(onceStarted(compileSchemas)).pipe(Effect.andThen(run(args)), Effect.provide(platform)))
