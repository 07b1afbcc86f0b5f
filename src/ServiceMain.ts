import { Effect } from "effect"
import { commandFirst } from "./cli/ClientCommandNames.ts"
import { run } from "./cli/Run.ts"
import { runMain } from "./cli/RunMain.ts"
import { platform } from "./composition/Platform.ts"
import { compileSchemas, onceStarted } from "./SchemaCompilation.ts"

const args = commandFirst(process.argv.slice(2))

runMain(args, Effect.forkChild(onceStarted(compileSchemas)).pipe(Effect.andThen(run(args)), Effect.provide(platform)))
