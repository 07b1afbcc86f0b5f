import { afterAll, expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { archiveFindings } from "../../../src/cli/doctor/ArchiveFindings.ts"
import { isHealthy } from "../../../src/cli/doctor/DoctorReport.ts"
import { suite } from "../../support/Effect.ts"
import { active } from "../../support/Journey.ts"
import { testPlane, TestPlane } from "../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../actors/support/PureRunner.ts"

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }))
afterAll(tests.dispose)

tests.live(
  "doctor and start report a missing snapshot that a Capsule needs, and doctor also reports a damaged snapshot",
  () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const { dataDir } = yield* TestPlane
      yield* active("archived", pureModule)
      const names = yield* files.readDirectory(`${dataDir}/snapshots`, { recursive: true })
      const archive = `${dataDir}/snapshots/${names.find((name) => name.endsWith(".tar.zst"))}`
      const both = Effect.all([archiveFindings(dataDir, "doctor"), archiveFindings(dataDir, "start")])
      const said = Effect.map(both, (sides) => sides.map(([finding]) => finding?.status))
      expect(yield* said).toEqual(["ok", "ok"])

      yield* files.copyFile(archive, `${archive}.copy`)
      const bytes = yield* files.readFile(archive)
      bytes[20] = (bytes[20] ?? 0) ^ 1
      yield* files.writeFile(archive, bytes)
      // Startup only checks that the snapshot exists; a Run verifies the contents when it reads them.
      expect(yield* said).toEqual(["warning", "ok"])
      yield* files.remove(archive)
      const lost = yield* both
      const [missed, alike] = lost
      expect(missed).toEqual(alike)
      expect(missed).toEqual([
        {
          check: "archives",
          status: "warning",
          message: `Capsules need ${archive}, lost or damaged.`,
          remedy: expect.stringContaining("Put it back from a copy of the data folder.")
        }
      ])
      // The next plan restores the snapshot, so the server may start without it.
      expect(lost.map(isHealthy)).toEqual([true, true])
      yield* files.rename(`${archive}.copy`, archive)
      expect(yield* said).toEqual(["ok", "ok"])
    })
)
