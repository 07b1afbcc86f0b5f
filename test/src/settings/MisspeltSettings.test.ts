import { describe, expect, test } from "bun:test"
import { ConfigProvider, Effect } from "effect"
import { likelySetting, misspeltSettings } from "../../../src/settings/MisspeltSettings.ts"
import { settingDefinitions } from "../../../src/settings/SettingDefinitions.ts"
import { it } from "../../support/Effect.ts"

describe("Misspelt settings", () => {
  test.each([
    ["SVC_DATADIR", "SVC_DATA_DIR"],
    ["SVC_DATA_DRI", "SVC_DATA_DIR"],
    ["SVC_LISTN", "SVC_LISTEN"],
    ["SVC_BASEURL", "SVC_BASE_URL"],
    ["SVC_MASTERKEY_FILE", "SVC_MASTER_KEY_FILE"],
    ["SVC_RUN_CONCURENCY", "SVC_RUN_CONCURRENCY"],
    ["SVC_RUNNER_ISOLATE", "SVC_RUNNER_ISOLATION"],
    ["SVC_LOGS", "SVC_LOG"],
    ["SVC_OPERATOR_LISTENER", "SVC_OPERATOR_LISTEN"],
    ["SVC_CONFG", "SVC_CONFIG"]
  ])("the variable %s is recognised as a misspelt %s", (given, meant) => {
    expect(likelySetting(given)).toBe(meant)
  })

  test.each([
    "SVC_SERVICE_HOST",
    "SVC_SERVICE_PORT",
    "SVC_SERVICE_PORT_HTTP",
    "SVC_PORT",
    "SVC_PORT_8787_TCP",
    "SVC_PORT_8787_TCP_ADDR",
    "SVC_HOST",
    "SVC_TEST_SEED",
    "OTHER_DATADIR",
    "SVC_"
  ])("the variable %s belongs to another program", (given) => {
    expect(likelySetting(given)).toBeUndefined()
  })

  test("the search for misspelt settings never reports a valid setting", () => {
    for (const { env } of Object.values(settingDefinitions)) expect([env, likelySetting(env)]).toEqual([env, undefined])
  })

  it.effect("the search for misspelt settings finds a misspelt setting among all variables", () =>
    Effect.gen(function* () {
      const environment = {
        PATH: "/bin",
        SVC_DATADIR: "a",
        SVC_LOG: "info",
        SVC_LOGS: "b",
        SVC_PORT_8787_TCP: "c",
        SVC_NAEM: ""
      }
      const found = yield* misspeltSettings.pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))
      )
      expect(found.map(({ given }) => given).sort()).toEqual(["SVC_DATADIR", "SVC_LOGS"])
    })
  )
})
