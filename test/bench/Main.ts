// `bun run bench`: every figure beside what it is compared with, in one run. `-- reads commands` runs only such groups.
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { platform } from "../../src/composition/Platform.ts"
import { commandsFigure } from "./Commands.ts"
import { mainJob } from "./MainJob.ts"
import { reads } from "./Reads.ts"
import { signInStorm } from "./SignInStorm.ts"
import { streams } from "./Streams.ts"
import { printFigure } from "./support/Figures.ts"
import { tokenCheck } from "./TokenCheck.ts"

const groups = { reads, commands: commandsFigure, mainJob: mainJob("terraform"), streams, tokenCheck, signInStorm }
const wanted = new Set(process.argv.slice(2))

const program = Effect.gen(function* () {
  for (const [name, group] of Object.entries(groups)) {
    if (wanted.size > 0 && !wanted.has(name)) continue
    for (const figure of yield* group) yield* printFigure(figure)
  }
}).pipe(Effect.scoped, Effect.provide(platform))

NodeRuntime.runMain(program)
