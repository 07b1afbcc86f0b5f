import { mkdirSync } from "node:fs"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { endProcessesIn } from "../../../runner/execution/OrphanedProcesses.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "./support/RunnerHarness.ts"

/** A process that waits forever, with a name and further arguments; it reports when it is running. */
const waiting = Effect.fnUntraced(function* (cwd: string, name: string, ...args: ReadonlyArray<string>) {
  const script = 'exec -a "$0" sh -c "echo there; read never" "$@"'
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => Bun.spawn(["bash", "-c", script, name, ...args], { cwd, stdin: "pipe", stdout: "pipe" })),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  yield* Effect.promise(() => child.stdout.getReader().read())
  return child
})

describe("the remains of a run whose service ended", () => {
  it.live("are ended: processes in its folder, and a sandbox being created for it; nothing else", () =>
    Effect.gen(function* () {
      const root = yield* temporaryFolder
      const folder = `${root}/run_a-1`
      const other = `${root}/run_a-10`
      mkdirSync(folder)
      mkdirSync(other)
      const ended = [
        yield* waiting(folder, "terraform"),
        yield* waiting(root, "/usr/bin/bwrap", "--bind", `${folder}/capsule`, "/work")
      ]
      const spared = [
        yield* waiting(other, "terraform"),
        yield* waiting(root, "bwrap", "--bind", `${other}/capsule`, "/work"),
        // Another process uses the folder.
        yield* waiting(root, "less", `${folder}/journal.ndjson`)
      ]
      yield* endProcessesIn(folder)
      for (const child of ended) {
        yield* Effect.promise(() => child.exited)
        expect(child.signalCode).toBe("SIGKILL")
      }
      for (const child of spared) expect(child.exitCode ?? child.signalCode).toBeNull()
    })
  )
})
