import { describe, expect } from "bun:test"
import { ConfigProvider, Effect, Exit, FileSystem, Layer, type Scope } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../../../src/cli/Run.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { release, releaseMirror, signingKey } from "../../runner/toolchain/ReleaseFixture.ts"
import { it } from "../../support/Effect.ts"

const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(platform)))

const version = "1.9.2"

/** A machine without a tool, and a mirror with one release. */
const machine = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const dataDir = yield* files.makeTempDirectoryScoped({ prefix: "svc-managed-tool-" })
  const key = yield* signingKey("release")
  const mirror = yield* releaseMirror
  yield* files.writeFileString(`${dataDir}/key.asc`, key.trusted)
  const source = [
    "--tool-mirror",
    mirror.url.href,
    "--tool-mirror-key",
    `${dataDir}/key.asc`,
    "--tool-version",
    version
  ]
  const doctor = (...flags: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(run(["doctor", "--json", "--data-dir", dataDir, ...source, ...flags]))
      const [line] = yield* TestConsole.logLines
      const { findings } = JSON.parse(String(line))
      return { tool: findings.find(({ check }: { check: string }) => check === "tool"), ok: Exit.isSuccess(exit) }
    }).pipe(
      Effect.provide(Layer.merge(TestConsole.layer, ConfigProvider.layer(ConfigProvider.fromEnvRecord({ PATH: "" }))))
    )
  return { doctor, key, mirror }
})

describe("svc doctor on a machine without a tool", () => {
  live("fetches the release, says so, and goes on with it when downloads are off", () =>
    Effect.gen(function* () {
      const { doctor, key, mirror } = yield* machine
      mirror.publish(version, yield* release(version, key.secret))
      const { ok, tool } = yield* doctor()
      expect(ok).toBe(true)
      expect(tool).toMatchObject({ status: "ok" })
      expect(tool.message).toStartWith(`OpenTofu ${version}, downloaded by this service and verified: `)
      const asked = mirror.requests()
      expect((yield* doctor("--tool-download", "off")).tool).toEqual(tool)
      expect(mirror.requests()).toBe(asked)
    })
  )

  live("asks no mirror when downloads are off, and says what to do", () =>
    Effect.gen(function* () {
      const { doctor, key, mirror } = yield* machine
      mirror.publish(version, yield* release(version, key.secret))
      const { ok, tool } = yield* doctor("--tool-download", "off")
      expect([ok, tool.status]).toEqual([false, "error"])
      expect(tool.remedy).toContain("SVC_TOOL_DOWNLOAD=on")
      expect(mirror.requests()).toBe(0)
    })
  )

  live("refuses a release that was changed on its way, and says why", () =>
    Effect.gen(function* () {
      const { doctor, key, mirror } = yield* machine
      const good = yield* release(version, key.secret)
      mirror.publish(version, { ...good, archive: good.archive.slice(0, -20) })
      const { ok, tool } = yield* doctor()
      expect([ok, tool.status]).toEqual([false, "error"])
      expect(tool.message).toContain("is not the released file")
      expect(tool.remedy).toContain("check the mirror")
    })
  )
})
