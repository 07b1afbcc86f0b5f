import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { optionalFamilies } from "../../../schema/api/ExtensionFamily.ts"
import { extensions } from "../../../schema/api/Extensions.ts"
import { suite } from "../../support/Effect.ts"
import { origin, send, TestApplication } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

/** A server on which the optional families are turned off. */
const tests = suite(TestApplication.layerWith({ familiesOff: optionalFamilies }))
afterAll(tests.dispose)

const ids: Readonly<Record<string, string>> = { ...world, workspaceId: world.workspaceA, exportLink: "link" }
const person = { cookie: "svc_session=ada-session", origin, "sec-fetch-site": "same-origin" }

const routes = extensions
  .filter(({ name }) => optionalFamilies.some((one) => one === name))
  .flatMap(({ endpoints }) => endpoints)

describe("Disabled families", () => {
  tests.live(
    "a disabled family responds to admitted callers with capability_not_available, before reading the body",
    () =>
      Effect.gen(function* () {
        expect(routes.length).toBeGreaterThan(3)
        for (const route of routes) {
          const [method = "", path = ""] = route.split(" ")
          const address = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? name)
          const body = method === "POST" ? { body: "{" } : {}
          const answer = yield* send(address, { method, headers: person, ...body })
          const { error } = yield* Effect.promise(() => answer.json())
          expect([route, answer.status, error.code]).toEqual([route, 501, "capability_not_available"])
          expect([route, (yield* send(address, { method, ...body })).status]).toEqual([route, 401])
        }
      })
  )

  tests.live("a disabled family is listed as not enabled, while other families are listed as enabled", () =>
    Effect.gen(function* () {
      const answer = yield* send("/api/v1/extensions", {})
      const listed: { readonly extensions: ReadonlyArray<{ readonly name: string; readonly enabled: boolean }> } =
        yield* Effect.promise(() => answer.json())
      const off = listed.extensions.filter(({ enabled }) => !enabled).map(({ name }) => name)
      // OAuth helpers are disabled too, because this operator declares none.
      expect(off.toSorted()).toEqual([...optionalFamilies, "oauth-helpers"].toSorted())
      expect(listed.extensions.length).toBe(extensions.length)
    })
  )
})
