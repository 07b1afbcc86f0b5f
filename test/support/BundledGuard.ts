import { Effect, Layer } from "effect"
import { GuardCommand } from "../../runner/agent/guard/GuardCommand.ts"
import { bundledProgram } from "./BundledProgram.ts"

/** Returns the agent's guard program, which is bundled into one file because every agent starts this program. */
export const guardProgram = () => bundledProgram(new URL("../../runner/agent/guard/GuardMain.ts", import.meta.url))

export const bundledGuard = Layer.effect(
  GuardCommand,
  Effect.map(Effect.promise(guardProgram), (program) => ({ program: process.execPath, args: [program] }))
)
