import { mkdirSync } from "node:fs"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { endProcessesOfRun } from "../../../runner/execution/OrphanedProcesses.ts"
import { it } from "../../support/Effect.ts"
import { waitingProcess } from "../sandbox/support/WaitingProcess.ts"
import { temporaryFolder } from "./support/RunnerHarness.ts"

describe("Orphaned processes", () => {
  it.live("cleanup after a dead service kills only the processes in its folder and its pending sandbox", () =>
    Effect.gen(function* () {
      const root = yield* temporaryFolder
      const folder = `${root}/run_a-1`
      const other = `${root}/run_a-10`
      mkdirSync(folder)
      mkdirSync(other)
      const ended = [
        yield* waitingProcess(folder, "terraform"),
        yield* waitingProcess(root, "/usr/bin/bwrap", "--bind", `${folder}/capsule`, "/work")
      ]
      const spared = [
        yield* waitingProcess(other, "terraform"),
        yield* waitingProcess(root, "bwrap", "--bind", `${other}/capsule`, "/work"),
        // Starts a process outside the folder that has one of the folder's files open.
        yield* waitingProcess(root, "less", `${folder}/journal.ndjson`)
      ]
      yield* endProcessesOfRun(folder)
      for (const child of ended) {
        yield* Effect.promise(() => child.exited)
        expect(child.signalCode).toBe("SIGKILL")
      }
      for (const child of spared) expect(child.exitCode ?? child.signalCode).toBeNull()
    })
  )
})
