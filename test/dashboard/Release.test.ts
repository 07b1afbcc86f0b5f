import { describe, expect } from "bun:test"
import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Path } from "effect"
import { loadDashboard, loadRelease, writeRelease } from "../../src/dashboard/Release.ts"
import { it } from "../support/Effect.ts"
import type { EmbeddedModule } from "./EmbeddedModule.ts"

const files = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)

describe("a release of the dashboard", () => {
  it.live(
    "is read back byte for byte, from its manifest and from its embedded module",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const folder = path.join(yield* fs.makeTempDirectoryScoped({ prefix: "dashboard-release-" }), "dashboard")
        const written = yield* writeRelease(folder)
        const loaded = yield* loadDashboard(folder)
        expect([...loaded.keys()].sort()).toEqual(written.map((file) => file.path).sort())
        const page = loaded.get("/app.html")
        const onDisk = yield* fs.readFile(path.join(folder, "app.html"))
        expect(Buffer.compare(page?.identity ?? new Uint8Array(0), onDisk)).toBe(0)

        const module: EmbeddedModule = yield* Effect.promise(() => import(path.join(folder, "Embedded.ts")))
        const embedded = yield* loadRelease(module.embedded)
        expect([...embedded.values()].map(({ sha256 }) => sha256).sort()).toEqual(
          [...loaded.values()].map(({ sha256 }) => sha256).sort()
        )

        // What the budget is about: scripts that the first screen waits for, as a release sends them.
        const html = new TextDecoder().decode(page?.identity)
        const scripts = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map((match) => match[1] ?? "")
        const size = scripts.reduce((sum, script) => sum + (loaded.get(script)?.br?.byteLength ?? Number.NaN), 0)
        expect(size).toBeLessThan(170 * 1024)
      }).pipe(Effect.provide(files)),
    60_000
  )

  it.live("that was never made is built in memory", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const assets = yield* loadDashboard(yield* fs.makeTempDirectoryScoped({ prefix: "dashboard-none-" }))
      expect(assets.has("/app.html")).toBe(true)
    }).pipe(Effect.provide(files))
  )

  it.live("that is broken says so instead of serving half of it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "dashboard-broken-" })
      yield* fs.writeFileString(path.join(folder, "manifest.json"), '{"files":[{"path":3}]}')
      const error = yield* Effect.flip(loadDashboard(folder))
      expect(error.message).toContain("manifest cannot be read")
    }).pipe(Effect.provide(files))
  )
})
