import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { Context, Option } from "effect"
import { moduleBeside } from "../../thread/ModuleLocation.ts"

export interface ConfinementCommandShape {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

const entryPoint = (name: string) => fileURLToPath(moduleBeside(import.meta.url, name))

/** The Bun that is installed next to a library on Node: the system calls of the sandbox need it. */
const installedBun = Option.liftThrowable(() => createRequire(import.meta.url).resolve("bun/bin/bun.exe"))

const program = (): Option.Option<string> =>
  process.versions.bun === undefined ? installedBun() : Option.some(process.execPath)

/**
 * How to start the process that becomes a program of a sandbox: Bun on the entry point by default, which is this
 * runtime or one next to the library; a compiled binary names itself. Without Bun, the process says so and nothing
 * runs.
 */
export const ConfinementCommand = Context.Reference<ConfinementCommandShape>("svc/sandbox/ConfinementCommand", {
  defaultValue: () =>
    Option.match(program(), {
      onNone: () => ({ program: process.execPath, args: [entryPoint("./MissingConfinement")] }),
      onSome: (bun) => ({ program: bun, args: [entryPoint("./ConfineMain")] })
    })
})
