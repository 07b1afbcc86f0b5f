import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { Context, Option } from "effect"
import { moduleBeside } from "../../thread/ModuleLocation.ts"

export interface ConfinementCommandShape {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

const entryPoint = (name: string) => fileURLToPath(moduleBeside(import.meta.url, name))

/**
 * Returns the path of the Bun that is installed with the library, if this process runs on Node. The sandbox needs Bun for its
 * system calls.
 */
const installedBun = Option.liftThrowable(() => createRequire(import.meta.url).resolve("bun/bin/bun.exe"))

const program = (): Option.Option<string> =>
  process.versions.bun === undefined ? installedBun() : Option.some(process.execPath)

/**
 * The command that starts the process that becomes a sandboxed program. By default, the command runs the entry point with
 * Bun, which is either this runtime or the Bun installed with the library. A compiled binary sets its own command. If Bun is
 * not available, the process reports the problem and runs nothing.
 */
export const ConfinementCommand = Context.Reference<ConfinementCommandShape>(
  "svc/runner/sandbox/confinement/ConfinementCommand",
  {
    defaultValue: () =>
      Option.match(program(), {
        onNone: () => ({ program: process.execPath, args: [entryPoint("./MissingConfinement")] }),
        onSome: (bun) => ({ program: bun, args: [entryPoint("./ConfineMain")] })
      })
  }
)
