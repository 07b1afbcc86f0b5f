// `bun run bench`: every figure beside what it is compared with, in one run. `-- reads commands` runs only such groups.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { platform } from "../../src/composition/Platform.ts"
import { commandsFigure } from "./Commands.ts"
import { growth } from "./Growth.ts"
import { mainJob } from "./MainJob.ts"
import { reads } from "./Reads.ts"
import { signInStorm } from "./SignInStorm.ts"
import { snapshots } from "./Snapshots.ts"
import { startup } from "./Startup.ts"
import { streams } from "./Streams.ts"
import { printFigure } from "./support/Figures.ts"
import { releaseBinary } from "./support/ReleaseBinary.ts"
import { tokenCheck } from "./TokenCheck.ts"

const tool = Bun.which("tofu") ?? Bun.which("terraform")

const groups = (binary: string) => ({
  ...(tool === null ? {} : { mainJob: mainJob(binary, tool) }),
  reads: reads(binary),
  commands: commandsFigure,
  streams,
  snapshots: snapshots(binary),
  startup: startup(binary),
  ...(tool === null ? {} : { growth: growth(binary) }),
  tokenCheck,
  signInStorm
})
const wanted = new Set(process.argv.slice(2))

const program = Effect.gen(function* () {
  const binary = yield* releaseBinary
  if (tool === null) yield* Console.log("No tofu or terraform on PATH: the main job and growth are left out.")
  for (const [name, group] of Object.entries(groups(binary))) {
    if (wanted.size > 0 && !wanted.has(name)) continue
    for (const figure of yield* group) yield* printFigure(figure)
  }
}).pipe(Effect.scoped, Effect.provide(platform))

NodeRuntime.runMain(program)
