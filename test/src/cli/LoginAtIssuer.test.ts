import { expect } from "bun:test"
import { ConfigProvider, Effect, Fiber, FileSystem, Layer, Schedule } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../../../src/cli/Run.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { it } from "../../support/Effect.ts"
import { formFields } from "../accounts/oidc/support/Browser.ts"
import { servedPerson } from "../support/ServedPerson.ts"

/** Serves a control plane with one person, who is signed in with a browser. */
const served = Effect.gen(function* () {
  const { cookie, dataDir, url } = yield* servedPerson
  const browse = (address: string, form?: Record<string, string>) =>
    Effect.promise(() =>
      fetch(address, {
        redirect: "manual",
        headers: {
          cookie,
          "sec-fetch-site": "same-origin",
          ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" })
        },
        ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form).toString() })
      })
    )
  const page = (address: string, form?: Record<string, string>) =>
    Effect.flatMap(browse(address, form), (response) => Effect.promise(() => response.text()))
  return { browse, home: `${dataDir}-home`, page, url }
})

/** Runs the program in a separate terminal. The test can read the output while the program runs. */
const terminal = (home: string) => {
  const environment = ConfigProvider.layer(ConfigProvider.fromEnvRecord({ HOME: home }))
  return <A, E, R>(use: Effect.Effect<A, E, R>) => Effect.provide(use, Layer.mergeAll(environment, TestConsole.layer))
}

const said = Effect.map(TestConsole.errorLines, (lines) => lines.join("\n"))
const invited = said.pipe(
  Effect.filterOrFail((text) => text.includes("\n")),
  Effect.retry(Schedule.spaced("25 millis"))
)

it.live(
  "a person approves svc login on the issuer's page, and the token works until that person logs out",
  () =>
    Effect.gen(function* () {
      const { browse, home, page, url } = yield* served
      const files = yield* FileSystem.FileSystem
      yield* Effect.acquireRelease(files.makeDirectory(home), () =>
        Effect.ignore(files.remove(home, { recursive: true }))
      )
      const svc = (...args: ReadonlyArray<string>) =>
        Effect.andThen(
          run(args),
          Effect.map(TestConsole.logLines, (lines) => lines.join("\n"))
        ).pipe(terminal(home))

      yield* Effect.gen(function* () {
        const login = yield* Effect.forkChild(run(["login", url]))
        const [, address = ""] = /Open (\S+)/.exec(yield* invited) ?? []
        const [, code = ""] = /code (\S+)\./.exec(yield* said) ?? []
        expect(new URL(address).origin).toBe(url)
        // Opening the link only shows the code. The person must compare and confirm the code.
        const form = yield* page(address)
        expect(form).toContain(code)
        const ask = { user_code: code, decision: "look", token: formFields(form).token }
        const question = yield* page(`${url}/oauth/device`, ask)
        expect(question).toContain("svc CLI")
        const allow = { user_code: code, decision: "allow", token: formFields(question).token }
        yield* page(`${url}/oauth/device`, allow)
        yield* Fiber.join(login)
        expect(yield* TestConsole.logLines).toEqual([`Logged in at ${url}.`])
      }).pipe(terminal(home))

      const token = yield* svc("token")
      const call = (method: string, body?: object) =>
        Effect.promise(() =>
          fetch(`${url}/api/v1/workspaces`, {
            method,
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          }).then((response) => response.status)
        )
      expect([yield* call("GET"), yield* call("POST", { handle: "made-here" })]).toEqual([200, 201])
      const applications = yield* page(`${url}/auth/grants`)
      expect(JSON.parse(applications).grants).toMatchObject([{ clientName: "svc CLI", offline: true }])
      // The terminal counts as a separate device, so signing out in the browser does not log the terminal out.
      expect((yield* browse(`${url}/auth/sign-out`, {})).status).toBe(204)
      expect((yield* browse(`${url}/auth/session`)).status).toBe(401)
      expect(yield* call("GET")).toBe(200)
      expect(yield* svc("logout")).toBe(`Logged out at ${url}.`)
      expect(yield* call("GET")).toBe(401)
      expect(yield* files.readFileString(`${home}/.config/svc/logins.json`)).not.toContain("svcr_")
    }).pipe(Effect.provide(platform)),
  60_000
)
