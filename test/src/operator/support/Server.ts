import { Context, Effect, Layer, Option } from "effect"
import { TestConsole } from "effect/testing"
import { controlPlane } from "../../../../src/Composition.ts"
import { HttpListener } from "../../../../src/http/HttpListener.ts"
import { logging } from "../../../../src/observability/Logging.ts"
import type { SettingName } from "../../../../src/settings/SettingDefinitions.ts"
import { loadSettings } from "../../../../src/settings/Settings.ts"
import { placeMigratedDatabase } from "../../../support/MigratedDatabase.ts"

/**
 * Runs the real server in this process on a data folder, and returns the server's services, address and log so far.
 */
export const serve = Effect.fn("serve")(function* (
  dataDir: string,
  more: ReadonlyMap<SettingName, string> = new Map()
) {
  yield* placeMigratedDatabase(dataDir)
  const settings = yield* loadSettings(
    new Map([["dataDir", dataDir], ["listen", "127.0.0.1:0"], ["toolDownload", "off"], ...more]),
    Option.none()
  )
  const services = yield* Layer.build(
    controlPlane(settings).pipe(
      Layer.provideMerge(logging({ level: "trace", format: "json" })),
      Layer.provideMerge(TestConsole.layer)
    )
  )
  return {
    services,
    url: Context.get(services, HttpListener).url,
    logged: Effect.map(TestConsole.errorLines, (lines) => lines.join("\n")).pipe(Effect.provide(services))
  }
})
