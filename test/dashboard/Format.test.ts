import { describe, expect, test } from "bun:test"
import { returnPath } from "../../src/dashboard/api/Client.ts"
import { matching, searchable } from "../../src/dashboard/app/Matching.ts"
import { setupSecret } from "../../src/dashboard/entrance/SetupSecret.ts"
import {
  bytes,
  duration,
  httpsLink,
  providerName,
  relativeTime,
  repositoryName,
  shortDigest
} from "../../src/dashboard/words/Format.ts"

const now = Date.parse("2026-11-20T09:00:00.000Z")

describe("words for numbers", () => {
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
    expect(relativeTime("en", "2026-11-20T08:57:00.000Z", now)).toBe("3 min ago")
    expect(relativeTime("ja", "2026-11-20T08:57:00.000Z", now)).toBe("3 分前")
    expect(relativeTime("en", "2026-11-20T08:59:40.000Z", now)).toBe("just now")
    expect(relativeTime("en", "2026-11-19T08:00:00.000Z", now)).toBe("yesterday")
  })

  test("sizes and names", () => {
    expect([812, 4300, 1_572_864].map(bytes)).toEqual(["812 B", "4.2 KiB", "1.5 MiB"])
    expect(shortDigest("sha256:0123456789abcdef")).toBe("0123456789ab")
    expect(providerName("registry.opentofu.org/hashicorp/aws")).toBe("hashicorp/aws")
    expect(providerName("private.example/acme/thing")).toBe("private.example/acme/thing")
    expect(repositoryName("https://git.example/a/b.git")).toBe("git.example/a/b")
  })
})

describe("addresses", () => {
  test("only https becomes a link", () => {
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

  test("sign-in returns only to this origin", () => {
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

  test("a setup link's secret is read from both forms of its fragment", () => {
    expect(setupSecret("#abc")).toBe("abc")
    expect(setupSecret("#secret=a%2Bb")).toBe("a+b")
    expect(setupSecret("")).toBeUndefined()
  })
})

describe("search", () => {
  test("finds every word in any order, in any width and case, the best match first", () => {
    const names = ["big-shop", "shop", "Ｓｈｏｐ staging", "other"]
    const searched = searchable(names, (name) => name)
    expect(matching(searched, "shop")).toEqual(["shop", "Ｓｈｏｐ staging", "big-shop"])
    expect(matching(searched, "stag shop")).toEqual(["Ｓｈｏｐ staging"])
    expect(matching(searched, "")).toEqual(names)
  })
})
