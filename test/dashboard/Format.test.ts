import { describe, expect, test } from "bun:test"
import { returnPath } from "../../src/dashboard/api/Client.ts"
import { matching, searchable } from "../../src/dashboard/app/Matching.ts"
import { setupSecret } from "../../src/dashboard/signed-out/SetupSecret.ts"
import {
  bytes,
  duration,
  exactTime,
  httpsLink,
  providerName,
  relativeTime,
  repositoryName,
  shortDigest
} from "../../src/dashboard/words/Format.ts"

const now = Date.parse("2026-11-20T09:00:00.000Z")

describe("Number formats", () => {
  test("durations", () => {
    expect([840, 3450, 42_000, 185_000, 3_720_000].map((ms) => duration("en", ms))).toEqual([
      "840 ms",
      "3.5 s",
      "42 s",
      "3 min 05 s",
      "1 h 02 min"
    ])
    expect(duration("ja", 185_000)).toBe("3 分 05 秒")
  })

  test("times", () => {
    const hour = 3_600_000
    for (const [ago, english, japanese] of [
      [20_000, "just now", "たった今"],
      [3 * 60_000, "3 min ago", "3 分前"],
      [23 * hour, "23 hr ago", "23 時間前"],
      [25 * hour, "yesterday", "昨日"],
      [6 * 24 * hour, "6 days ago", "6 日前"],
      [8 * 24 * hour, "1 wk ago", "1 週間前"],
      [40 * 24 * hour, "1 mo ago", "1 か月前"],
      [400 * 24 * hour, "1 yr ago", "1 年前"],
      [-2 * hour, "in 2 hr", "2 時間後"]
    ] as const) {
      const at = new Date(now - ago).toISOString()
      expect([relativeTime("en", at, now), relativeTime("ja", at, now)]).toEqual([english, japanese])
    }
  })

  test('"yesterday" means the previous calendar day', () => {
    const evening = new Date(2026, 10, 20, 22).getTime()
    const at = (day: number, hour: number) => relativeTime("en", new Date(2026, 10, day, hour).toISOString(), evening)
    expect([at(20, 1), at(19, 21), at(18, 23), at(18, 1)]).toEqual([
      "21 hr ago",
      "yesterday",
      "2 days ago",
      "2 days ago"
    ])
  })

  test("an exact time includes its time zone", () => {
    expect(exactTime("en", "2026-11-20T08:57:03.000Z")).toMatch(/20 Nov 2026.*57:03.*(?:UTC|GMT|[A-Z]{3,4})/)
    expect(exactTime("ja", "2026-11-20T08:57:03.000Z")).toMatch(/2026\/11\/20.*57:03.*(?:UTC|GMT|[A-Z]{3,4})/)
  })

  test("sizes and names are formatted for readability", () => {
    expect([812, 4300, 1_572_864].map(bytes)).toEqual(["812 B", "4.2 KiB", "1.5 MiB"])
    expect(shortDigest("sha256:0123456789abcdef")).toBe("0123456789ab")
    expect(providerName("registry.opentofu.org/hashicorp/aws")).toBe("hashicorp/aws")
    expect(providerName("private.example/acme/thing")).toBe("private.example/acme/thing")
    expect(repositoryName("https://git.example/a/b.git")).toBe("git.example/a/b")
  })
})

describe("addresses", () => {
  test("only an https address becomes a link", () => {
    expect(httpsLink("https://a.example/x")).toBe("https://a.example/x")
    for (const value of [
      "http://a.example",
      "javascript:alert(1)",
      " javascript:alert(1)",
      "data:text/html,x",
      "//a.example",
      "https://u:p@a.example",
      "a.example",
      3,
      null,
      ["https://a.example"]
    ]) {
      expect(httpsLink(value)).toBeUndefined()
    }
  })

  test("sign-in redirects only to addresses in the same origin", () => {
    const origin = "https://svc.example"
    expect(returnPath("/new?git=x#y", origin)).toBe("/new?git=x#y")
    for (const value of [
      null,
      "",
      "https://evil.example/",
      "//evil.example/",
      "/\\evil.example/",
      "/.//evil.example/",
      "/x/..//evil.example/",
      "/%2e/\\evil.example/",
      "javascript:alert(1)",
      "/sign-in?return=/x"
    ]) {
      expect(returnPath(value, origin)).toBe("/")
    }
  })

  test("the setup page reads a link's secret from either form of its fragment", () => {
    expect(setupSecret("#abc")).toBe("abc")
    expect(setupSecret("#secret=a%2Bb")).toBe("a+b")
    expect(setupSecret("")).toBeUndefined()
  })
})

describe("search", () => {
  test("a search finds words in any order, width and case, best match first", () => {
    const names = ["big-shop", "shop", "Ｓｈｏｐ staging", "other"]
    const searched = searchable(names, (name) => name)
    expect(matching(searched, "shop")).toEqual(["shop", "Ｓｈｏｐ staging", "big-shop"])
    expect(matching(searched, "stag shop")).toEqual(["Ｓｈｏｐ staging"])
    expect(matching(searched, "")).toEqual(names)
  })
})
