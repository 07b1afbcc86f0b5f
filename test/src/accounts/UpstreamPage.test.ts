import { describe, expect, test } from "bun:test"
import { HttpServerResponse } from "effect/http"
import { refusedFor, UpstreamReason } from "../../../actors/access/account/UpstreamRefusal.ts"
import { upstreamRefusalPage } from "../../../src/accounts/upstream/UpstreamPage.ts"
import { refusalWords } from "../../../src/accounts/upstream/UpstreamWords.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"

const about = { providerName: "Acme <ID>", requestId: "req_1" }

const read = async (...[language, refusal]: readonly ["en" | "ja", Parameters<typeof upstreamRefusalPage>[1]]) => {
  const response = HttpServerResponse.toWeb(upstreamRefusalPage(language, refusal, about))
  return { status: response.status, text: await response.text() }
}

const japanese = /[ぁ-んァ-ヶ一-龠]/

describe("Failed sign-ins", () => {
  for (const reason of UpstreamReason.literals) {
    test(`the page for ${reason} explains the reason and the remedy, in both languages`, async () => {
      const [en, ja] = [await read("en", refusedFor(reason)), await read("ja", refusedFor(reason))]
      expect(en.status).toBe(ja.status)
      expect(en.status).toBeGreaterThanOrEqual(400)
      const body = (text: string) => text.slice(text.indexOf("<main>"))
      expect(body(en.text)).not.toMatch(japanese)
      expect(body(ja.text)).toMatch(japanese)
      // The Japanese page must not contain English sentences.
      expect(body(ja.text)).not.toMatch(/lang="en"|\b[a-z]+ [a-z]+ [a-z]+\b/)
      for (const { text } of [en, ja]) {
        expect(text).toContain("req_1")
        expect(text).not.toContain("Acme <ID>")
        expect(text).toContain(`href="${reason.startsWith("invitation_") ? "/join" : "/sign-in"}"`)
      }
    })
  }

  test("no two reasons for a failed sign-in have the same message", () => {
    for (const words of Object.values(refusalWords)) {
      const said = Object.values(words).map(({ what }) => what("P"))
      expect(new Set(said).size).toBe(said.length)
    }
  })

  test("the page for a request rejected before sign-in explains the reason in the person's language", async () => {
    const limited = new ApiError({ code: "rate_limited", message: "Slow down.", retryAfter: 30 })
    const page = await read("ja", limited)
    expect([page.status, page.text.includes("Slow down.")]).toEqual([429, false])
  })
})
