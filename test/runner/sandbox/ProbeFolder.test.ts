import { mkdirSync, readdirSync } from "node:fs"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { probeFolder, removeStaleProbes } from "../../../runner/sandbox/ProbeFolder.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../execution/support/RunnerHarness.ts"
import { waitingProcess } from "./support/WaitingProcess.ts"

describe("Probe files", () => {
  it.live("probe files are removed when the probes finish", () =>
    Effect.gen(function* () {
      const own = yield* temporaryFolder
      for (const tried of ["network", "confinement"] as const) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const folder = yield* probeFolder(own, tried)
            expect(readdirSync(folder)).toEqual(["root"])
          })
        )
      }
      expect(readdirSync(own)).toEqual([])
    })
  )

  it.live("the next startup removes a killed service's probe folders and pending sandboxes", () =>
    Effect.gen(function* () {
      const own = yield* temporaryFolder
      for (const name of ["network-a/root", "probe-b/root", "network", "etc"])
        mkdirSync(`${own}/${name}`, { recursive: true })
      const ended = [
        yield* waitingProcess(own, "/usr/bin/bwrap", "--bind", `${own}/network-a/root`, "/capsule"),
        yield* waitingProcess(`${own}/probe-b/root`, "sh")
      ]
      const spared = yield* waitingProcess(own, "bwrap", "--ro-bind", `${own}/etc/hosts`, "/etc/hosts")
      yield* removeStaleProbes(own)
      for (const child of ended) {
        yield* Effect.promise(() => child.exited)
        expect(child.signalCode).toBe("SIGKILL")
      }
      expect(spared.exitCode ?? spared.signalCode).toBeNull()
      expect(readdirSync(own).toSorted()).toEqual(["etc", "network"])
    })
  )

  it.live("probe files can be created in a folder that does not exist yet", () => removeStaleProbes("/proc/nowhere"))
})
