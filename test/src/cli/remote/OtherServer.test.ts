import { describe, expect } from "bun:test"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../../../../src/cli/Run.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { it } from "../../../support/Effect.ts"
import { loopback } from "../../../support/LoopbackServer.ts"

/** Runs `svc` against a server that has none of the routes and reports these API versions; returns the output. */
const saidAt = Effect.fnUntraced(function* (versions: ReadonlyArray<string>) {
  const files = yield* FileSystem.FileSystem
  const home = yield* files.makeTempDirectoryScoped({ prefix: "svc-other-" })
  const origin = yield* loopback((request, response) => {
    const isDiscovery = request.url === "/.well-known/svc"
    const unknown = { code: "not_found", message: "There is no such route. The routes are listed at /openapi.json." }
    response.writeHead(isDiscovery ? 200 : 404, { "content-type": "application/json" })
    response.end(JSON.stringify(isDiscovery ? { api_versions: versions } : { error: { ...unknown, requestId: "req" } }))
  })
  const environment = ConfigProvider.layer(
    ConfigProvider.fromEnvRecord({ HOME: home, SVC_URL: origin, SVC_TOKEN: "token" })
  )
  return yield* Effect.gen(function* () {
    yield* Effect.exit(run(["whoami", "--json"]))
    const { error } = JSON.parse((yield* TestConsole.errorLines).join("\n"))
    return [error.code, String(error.message).replaceAll(origin, "SERVER")]
  }).pipe(Effect.provide(Layer.mergeAll(environment, TestConsole.layer)))
})

describe("Other servers", () => {
  it.live("a command reports that the server implements another version of the API", () =>
    Effect.gen(function* () {
      const [code, message] = yield* saidAt(["svc.dev/v2"])
      expect(code).toBe("api_version_unknown")
      expect(message).toStartWith("SERVER speaks svc.dev/v2, and this svc speaks svc.dev/v1alpha1.")
    }).pipe(Effect.provide(platform))
  )

  it.live("a command reports that the server lacks a required route", () =>
    Effect.gen(function* () {
      const [code, message] = yield* saidAt(["svc.dev/v1alpha1"])
      expect(code).toBe("capability_not_available")
      expect(message).toContain("SERVER has nothing that this command needs")
    }).pipe(Effect.provide(platform))
  )
})
