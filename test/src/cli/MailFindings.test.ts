import { expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Effect, Option } from "effect"
import { mailFindings } from "../../../src/cli/doctor/MailFindings.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { it } from "../../support/Effect.ts"
import { mailServer } from "../../support/MailServer.ts"

const findings = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
  const settings = yield* loadSettings(new Map(), Option.none()).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))
  )
  return yield* mailFindings(settings)
}, Effect.provide(NodeServices.layer))

it.live("doctor signs in to the mail server and sends nothing", () =>
  Effect.gen(function* () {
    expect(yield* findings({})).toEqual([])
    const server = yield* mailServer({ login: { user: "svc", password: "the-smtp-password" } })
    const environment = {
      SVC_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      SVC_SMTP_FROM: "svc@acme.example",
      SVC_SMTP_USER: "svc"
    }
    const good = yield* findings({ ...environment, SVC_SMTP_PASSWORD: "the-smtp-password" })
    expect(good.map(({ status }) => status)).toEqual(["ok"])
    const wrong = yield* findings({ ...environment, SVC_SMTP_PASSWORD: "another-password" })
    expect(wrong.map(({ status }) => status)).toEqual(["error"])
    expect(JSON.stringify(wrong)).not.toContain("another-password")
    const missing = yield* findings({ ...environment, SVC_SMTP_PASSWORD_FILE: "/nowhere/at/all" })
    expect(missing.map(({ message }) => message)).toEqual([
      "The file that SVC_SMTP_PASSWORD_FILE names cannot be read."
    ])
    expect(server.mails).toEqual([])
  })
)
