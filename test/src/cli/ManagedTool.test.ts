import { describe, expect } from "bun:test"
import { ConfigProvider, Effect, Exit, FileSystem, Layer, Logger, Option } from "effect"
import { TestConsole } from "effect/testing"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { run } from "../../../src/cli/Run.ts"
import { describeTool } from "../../../src/cli/doctor/MachineFindings.ts"
import { toolchain } from "../../../src/composition/Machine.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { release, releaseMirror, signingKey } from "../../runner/toolchain/ReleaseFixture.ts"
import { live } from "./support/CommandLine.ts"

const version = "1.9.2"

/** Prepares a machine without the tool, and a mirror with one release of the tool. */
const machine = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const dataDir = yield* files.makeTempDirectoryScoped({ prefix: "svc-managed-tool-" })
  const key = yield* signingKey("release")
  const mirror = yield* releaseMirror
  yield* files.writeFileString(`${dataDir}/key.asc`, key.trusted)
  const given = { toolMirror: mirror.url.href, toolMirrorKey: `${dataDir}/key.asc`, toolVersion: version }
  const source = [
    "--tool-mirror",
    given.toolMirror,
    "--tool-mirror-key",
    given.toolMirrorKey,
    "--tool-version",
    version
  ]
  const nothingOnPath = ConfigProvider.layer(ConfigProvider.fromEnvRecord({ PATH: "" }))
  /** Performs the same steps as the server does at startup. */
  const start = Effect.gen(function* () {
    const settings = yield* loadSettings(new Map(Object.entries({ dataDir, ...given })), Option.none())
    const found = toolchain(settings).pipe(Layer.provide(Layer.fresh(DataFolder.layer(dataDir))))
    return yield* Effect.flatMap(Toolchain, (tools) => tools.resolve()).pipe(Effect.provide(found))
  }).pipe(Effect.provide(Layer.merge(nothingOnPath, Logger.layer([]))))
  const doctor = (...flags: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(run(["doctor", "--json", "--data-dir", dataDir, ...source, ...flags]))
      const [line] = yield* TestConsole.logLines
      const { findings } = JSON.parse(String(line))
      return { tool: findings.find(({ check }: { check: string }) => check === "tool"), ok: Exit.isSuccess(exit) }
    }).pipe(Effect.provide(Layer.merge(TestConsole.layer, nothingOnPath)))
  return { dataDir, doctor, key, mirror, start }
})

describe("Managed tools", () => {
  live(
    "the server downloads a missing tool at startup, and svc doctor reports the missing tool without a download",
    () =>
      Effect.gen(function* () {
        const { dataDir, doctor, key, mirror, start } = yield* machine
        const files = yield* FileSystem.FileSystem
        mirror.publish(version, yield* release(version, key.secret))
        const before = yield* doctor()
        expect([before.ok, before.tool.status, mirror.requests()]).toEqual([true, "warning", 0])
        expect(before.tool.message).toContain(`downloads OpenTofu ${version} when it starts`)
        expect(before.tool.remedy).toContain(mirror.url.href)
        expect(yield* files.readDirectory(dataDir)).toEqual(["key.asc"])
        const tool = yield* start
        const asked = mirror.requests()
        expect(asked).toBeGreaterThan(0)
        const after = yield* doctor()
        expect([after.ok, after.tool.status, after.tool.message]).toEqual([true, "ok", describeTool(tool)])
        expect(after.tool.message).toStartWith(`OpenTofu ${version}, downloaded by this service and verified: `)
        expect((yield* doctor("--tool-download", "off")).tool).toEqual(after.tool)
        expect(mirror.requests()).toBe(asked)
      })
  )

  live("svc explains how to install the tool when downloads are off", () =>
    Effect.gen(function* () {
      const { doctor, key, mirror } = yield* machine
      mirror.publish(version, yield* release(version, key.secret))
      const { ok, tool } = yield* doctor("--tool-download", "off")
      expect([ok, tool.status]).toEqual([false, "error"])
      expect(tool.remedy).toContain("SVC_TOOL_DOWNLOAD=on")
      expect(mirror.requests()).toBe(0)
    })
  )

  live("svc refuses a tool release that was modified in transit, and explains the refusal", () =>
    Effect.gen(function* () {
      const { doctor, key, mirror, start } = yield* machine
      const good = yield* release(version, key.secret)
      mirror.publish(version, { ...good, archive: good.archive.slice(0, -20) })
      const refusal = yield* Effect.flip(start)
      expect(refusal).toMatchObject({ _tag: "ToolDownloadFailed", remedy: expect.stringContaining("check the mirror") })
      expect(refusal.message).toContain("is not the released file")
      expect((yield* doctor()).tool.status).toBe("warning")
    })
  )
})
