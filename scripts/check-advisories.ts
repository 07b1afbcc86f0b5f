// `npm run advisories` queries the registry for known vulnerabilities in the packages that the product contains. Exits with
// 1 if a vulnerability has high or critical severity.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Runtime, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { advisoryVerdict } from "./Advisories.ts"

class AdvisoriesFound extends Schema.TaggedError<AdvisoriesFound>()("AdvisoriesFound", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const program = Effect.gen(function* () {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const command = ChildProcess.make("npm", ["audit", "--omit=dev", "--json"], { extendEnv: true, stderr: "ignore" })
  const verdict = advisoryVerdict(yield* spawner.string(command))
  switch (verdict.kind) {
    case "unanswered":
      return yield* Console.log(`The registry did not answer the question about advisories: ${verdict.reason}`)
    case "passed":
      return yield* Console.log(["No advisory of high or critical severity.", ...verdict.lesser].join("\n  "))
    case "failed":
      return yield* new AdvisoriesFound({ message: `Update these packages:\n  ${verdict.advisories.join("\n  ")}` })
  }
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
