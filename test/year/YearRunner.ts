import { Effect, Layer } from "effect"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import { Toolchain } from "../../runner/toolchain/Toolchain.ts"
import { pureModules, pureRunner } from "../actors/support/PureRunner.ts"

const linesOfRun = 20
const line = "terraform_data.it: Refreshing state... [id=0f3b2a61-62d8-4e5c-9a1f-8c1d7e4b5a90]"

/** The tool version, which the operator replaces during the year. */
export interface YearTool {
  version: string
}

/** Creates a runner that starts no processes and returns the output of a small module. */
export const yearRunner = (tool: YearTool) => {
  const pure = pureRunner(pureModules())
  const printing = Layer.effect(
    ModuleRunner,
    Effect.map(ModuleRunner, (runner) => {
      const print = (phase: "plan" | "apply", log: Parameters<typeof runner.plan>[1]["sink"]["log"]) =>
        Effect.forEach(Array.from({ length: linesOfRun }), () => log(phase, "stdout", line), { discard: true })
      return ModuleRunner.of({
        ...runner,
        plan: (job, control) => Effect.andThen(print("plan", control.sink.log), runner.plan(job, control)),
        apply: (job, control) => Effect.andThen(print("apply", control.sink.log), runner.apply(job, control))
      })
    })
  )
  const installed = Layer.mock(Toolchain)({
    resolve: () =>
      Effect.sync(() => ({ name: "terraform", version: tool.version, path: "/nowhere/terraform", origin: "path" }))
  })
  return Layer.mergeAll(printing, installed).pipe(Layer.provide(pure))
}
