import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { publishedSchemas, publishedText } from "../../../schema/manifest/PublishedSchemas.ts"
import { suite } from "../../support/Effect.ts"
import { send, TestApplication } from "./support/TestApplication.ts"

const tests = suite(TestApplication.layer)
afterAll(tests.dispose)

const text = (response: Response) => Effect.promise(() => response.text())

const git = "git=https%3A%2F%2Fgit.example.com%2Fteam%2Fapp"

describe("Install links", () => {
  tests.live("an install link redirects to the creation flow under its canonical address", () =>
    Effect.gen(function* () {
      const good = [
        [`${git}`, git],
        ["git=https://git.example.com/team/app", git],
        [`path=modules/app&${git}&sourcePath=.`, `${git}&path=modules%2Fapp`],
        ["source=git::https://git.example.com/team/app//web?ref=v1", `${git}&ref=v1&path=web`],
        [
          `${git}&product=acme.app&return_uri=acme-app://connected`,
          `${git}&product=acme.app&return_uri=acme-app%3A%2F%2Fconnected`
        ],
        [
          `kind=capsule-source-options&${git}&path=install/options.json`,
          `kind=capsule-source-options&${git}&path=install%2Foptions.json`
        ]
      ] as const
      for (const [query, canonical] of good) {
        const response = yield* send(`/install?${query}`, { redirect: "manual" })
        expect([response.status, response.headers.get("location")]).toEqual([303, `/new?${canonical}`])
      }
    })
  )

  tests.live(
    "an invalid install link is rejected outright, with a page that explains why and does not repeat any part of the link",
    () =>
      Effect.gen(function* () {
        const bad = [
          "",
          "?=product",
          "?product",
          "?product=acme",
          `?${git}&var.secret=hunter2`,
          `?${git}&unknown=%3Cscript%3Ealert(1)%3C/script%3E`,
          `?${git}&%3Cscript%3E=1`,
          `?${git}&${git}`,
          "?git=http://git.example.com/team/app",
          "?git=https://user:hunter2@git.example.com/team/app",
          `?${git}&product=acme.app&return_uri=javascript://alert(1)`,
          `?${git}&product=acme.app&return_uri=http://svc.example.test/back`,
          `?${git}&path=../up`
        ]
        for (const query of bad) {
          const response = yield* send(`/install${query}`, { redirect: "manual" })
          const page = yield* text(response)
          expect([query, response.status]).toEqual([query, 400])
          expect(response.headers.get("content-type")).toContain("text/html")
          expect(response.headers.get("content-security-policy")).toContain("default-src 'none'")
          expect(page).not.toContain("hunter2")
          expect(page).not.toContain("<script")
          expect(page).toContain("This install link cannot be used")
        }
      })
  )

  tests.live("an invalid install link is rejected in the reader's language", () =>
    Effect.gen(function* () {
      const japanese = yield* send("/install", { headers: { "accept-language": "fr, ja;q=0.9, en;q=0.8" } })
      expect(yield* text(japanese)).toContain("このインストール用リンクは使えません")
      const english = yield* send("/install", { headers: { "accept-language": "en-GB, ja" } })
      expect(yield* text(english)).toContain('lang="en"')
    })
  )

  tests.live("an install link creates nothing, and accepts only read requests", () =>
    Effect.gen(function* () {
      const response = yield* send(`/install?${git}`, { method: "POST" })
      expect(response.status).toBe(405)
      expect(response.headers.get("allow")).toBe("GET, HEAD")
    })
  )
})

describe("Client returns", () => {
  tests.live("only signed-in people can return to the client", () =>
    Effect.gen(function* () {
      const response = yield* send("/install/return", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}"
      })
      expect(response.status).toBe(401)
      expect(response.headers.get("cache-control")).toBe("no-store")
    })
  )
})

describe("Published schemas", () => {
  tests.live("the published schemas are public, and identical to the files in the repository", () =>
    Effect.gen(function* () {
      for (const schema of publishedSchemas) {
        const response = yield* send(`/schemas/${schema.fileName}`)
        expect(response.status).toBe(200)
        expect(response.headers.get("content-type")).toContain("application/schema+json")
        expect(response.headers.get("access-control-allow-origin")).toBe("*")
        expect(yield* text(response)).toBe(publishedText(schema))
      }
      expect((yield* send("/schemas/other.json")).status).toBe(404)
      expect((yield* send("/schemas/..%2fpackage.json")).status).toBe(404)
    })
  )
})
