// `npm run bench:dashboard` measures the dashboard and compares every figure with its target. It loads the release binary's
// files in headless Chromium, on the same machine as the server. Figures are medians of several rounds. `SVC_TEST_BINARY`
// selects an existing binary. `-- --only size` runs one group and may be repeated: `size`, `loading`, `smoothness`, `plan`.
import { NodeRuntime } from "@effect/platform-node"
import { availableParallelism, loadavg } from "node:os"
import { parseArgs } from "node:util"
import { Console, Effect, Schema } from "effect"
import { platform } from "../src/composition/Platform.ts"
import { loading } from "../test/bench/dashboard/Loading.ts"
import { planReview } from "../test/bench/dashboard/PlanReview.ts"
import { size } from "../test/bench/dashboard/Size.ts"
import { smoothness } from "../test/bench/dashboard/Smoothness.ts"
import { printFigure } from "../test/bench/support/Figures.ts"
import { releaseBinary } from "../test/bench/support/ReleaseBinary.ts"
import { startBrowser } from "../test/browser/support/Browser.ts"
import { filesOfBinary } from "../test/browser/support/ServedFiles.ts"
import { compiledBinary } from "../test/browser/support/ServerProcess.ts"

class UnknownGroup extends Schema.TaggedError<UnknownGroup>()("UnknownGroup", { message: Schema.String }) {}

const { values } = parseArgs({ args: process.argv.slice(2), options: { only: { type: "string", multiple: true } } })

/** Prints the load of the machine, because timings mean little on a busy machine. */
const tellLoad = Effect.suspend(() =>
  Console.log(`${loadavg()[0]?.toFixed(1)} processes on ${availableParallelism()} cores in the last minute`)
)

const program = Effect.gen(function* () {
  const given = compiledBinary()
  const files = yield* filesOfBinary(given ?? (yield* releaseBinary))
  const browser = yield* Effect.acquireRelease(Effect.promise(startBrowser), (started) =>
    Effect.promise(() => started.close())
  )
  const groups = {
    size: size(files),
    loading: loading(browser, files),
    smoothness: smoothness(browser, files),
    plan: planReview(browser, files)
  }
  const unknown = values.only?.find((name) => !Object.hasOwn(groups, name))
  if (unknown !== undefined) {
    return yield* new UnknownGroup({ message: `No group ${unknown}. There are: ${Object.keys(groups).join(", ")}.` })
  }
  yield* tellLoad
  for (const [name, group] of Object.entries(groups)) {
    if (values.only !== undefined && !values.only.includes(name)) continue
    for (const figure of yield* group) yield* printFigure(figure)
  }
  yield* tellLoad
}).pipe(Effect.scoped, Effect.provide(platform))

NodeRuntime.runMain(program)
