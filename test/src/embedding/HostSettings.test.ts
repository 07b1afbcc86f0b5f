import { expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Redacted } from "effect"
import { settingTexts } from "../../../src/embedding/HostSettings.ts"
import { settingsOf } from "../../../src/embedding/Options.ts"
import { it } from "../../support/Effect.ts"

const place = { baseUrl: "https://svc.example.com" }

it.effect("a host can provide numbers, booleans, lists, secrets and sizes as native values", () =>
  Effect.gen(function* () {
    const settings = {
      runConcurrency: 3,
      providerMirrorRequired: true,
      gitAllowOrigins: ["https://a.example.com", "http://localhost:3000"],
      familiesOff: ["exports"],
      runnerForbiddenRanges: [],
      masterKey: Redacted.make("0".repeat(64)),
      runTmp: "512MiB",
      runMemory: "auto",
      operatorListen: "127.0.0.1:0",
      name: "plane"
    } as const
    expect(yield* settingsOf({ dataDir: "./plane", settings }, place)).toMatchObject({
      ...settings,
      dataDir: "./plane",
      runTmp: 512 * 1024 ** 2,
      operatorListen: { host: "127.0.0.1", port: 0 }
    })
  }).pipe(Effect.provide(NodeServices.layer))
)

it.effect("an empty list overrides a list setting's default", () =>
  Effect.gen(function* () {
    expect(yield* settingTexts({ runnerForbiddenRanges: [] })).toEqual(new Map([["runnerForbiddenRanges", "none"]]))
    const { runnerForbiddenRanges } = yield* settingsOf({ dataDir: "./plane" }, place)
    expect(runnerForbiddenRanges).not.toEqual([])
  }).pipe(Effect.provide(NodeServices.layer))
)
