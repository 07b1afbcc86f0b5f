import { Effect, Layer } from "effect"
import { ConfinementCommand } from "../../runner/sandbox/confinement/ConfinementCommand.ts"
import { bundledProgram } from "./BundledProgram.ts"

const source = new URL("../../runner/sandbox/confinement/ConfineMain.ts", import.meta.url)

/**
 * The program that replaces itself with a sandboxed program. The program is bundled into one file, because every command
 * starts it at some isolation levels.
 */
export const bundledConfinement = Layer.effect(
  ConfinementCommand,
  Effect.map(
    Effect.promise(() => bundledProgram(source)),
    (program) => ({ program: process.execPath, args: [program] })
  )
)
