import { join } from "node:path"
import { Effect } from "effect"
import { spawnProcess } from "../SandboxProcess.ts"
import { outside, spawnSupervised, temporaryFolderFor } from "./Confined.ts"
import type { Level, LevelHost, OpenSandbox } from "./Level.ts"

/**
 * Runs plain child processes with their own environment, which can access the server's files, its database and its master key.
 * svc never chooses this level automatically: the level is used only if the operator has turned isolation off, and for
 * module trees that are shipped with svc.
 */
export const plainProcess = (host: LevelHost): Level => ({
  level: "process",
  insideRoot: (root) => root,
  open: Effect.fnUntraced(function* (spec, { guard, limits }) {
    const temporary = yield* temporaryFolderFor(spec)
    const elsewhere = outside(spec, temporary)
    const open: OpenSandbox = {
      root: spec.root,
      temporary,
      spawn: (command) => {
        const cwd = join(spec.root, command.cwd)
        if (process.platform === "linux") {
          return spawnSupervised(
            host,
            { command, cwd, confinement: { kind: "none" }, ownProcessCount: false, limits },
            { processNote: spec.processNote, killStragglers: Effect.void, guard, elsewhere }
          )
        }
        // On systems other than Linux, no supervisor can adopt processes that leave the process group.
        const [program, ...args] = command.argv
        return spawnProcess(host.spawner, {
          commandLine: { program, args },
          cwd,
          environment: command.environment,
          role: { kind: "program" },
          inputs: [],
          noted: () => Effect.void,
          killStragglers: Effect.void,
          guard,
          elsewhere,
          isInstallation: command.isInstallation
        })
      }
    }
    return open
  })
})
