// `failure-summary.ts [name exitCode logFile]...` prints the failures of CI suites, for people who read only the end of the
// output.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem } from "effect"
import { failureSummary } from "./FailureSummary.ts"

const args = process.argv.slice(2)
const suites = Array.from({ length: Math.floor(args.length / 3) }, (_, index) => args.slice(index * 3, index * 3 + 3))

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const logs = yield* Effect.forEach(suites, ([name = "", exitCode = "", file = ""]) =>
    Effect.map(files.readFileString(file), (log) => ({ name, exitCode: Number(exitCode), log }))
  )
  const report = failureSummary(logs)
  if (report !== "") yield* Console.log(`\n${report}\n`)
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
