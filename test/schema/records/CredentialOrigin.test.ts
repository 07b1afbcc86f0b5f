import { describe, expect, test } from "bun:test"
import { Option, Schema } from "effect"
import { CredentialOrigin, GivenCredentialOrigin, isWithinOrigins } from "../../../schema/records/CredentialOrigin.ts"

const given = (text: string) => Option.getOrUndefined(Schema.decodeOption(GivenCredentialOrigin)(text))

describe("Credential origins", () => {
  test.each([
    ["https://git.example.com", "https://git.example.com"],
    ["https://git.example.com/", "https://git.example.com"],
    ["https://GIT.Example.com:443", "https://git.example.com"],
    ["https://git.example.com:8443/team", "https://git.example.com:8443/team/"],
    ["https://git.example.com/Team/a/", "https://git.example.com/Team/a/"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000"],
    ["http://git.internal:80/x", "http://git.internal/x/"],
    ["https://[2001:db8::1]/a", "https://[2001:db8::1]/a/"],
    ["ssh://Git.example.com:22/team", "ssh://git.example.com/team/"],
    ["ssh://git.example.com:443", "ssh://git.example.com:443"]
  ])("the origin %s has the only spelling %s", (text, spelling) => {
    expect(given(text)).toBe(CredentialOrigin.make(spelling))
  })

  test.each([
    "",
    "git.example.com",
    "*",
    "https://*",
    "https://*.example.com",
    "https://git.example.com/*",
    "https://git.example.com/te*m/",
    "https://user@git.example.com",
    "https://user:pw@git.example.com/team/",
    "https://git.example.com?x",
    "https://git.example.com/team/#x",
    "https://git.example.com/team/..",
    "https://git.example.com/team/../other/",
    "https://git.example.com/./team/",
    "https://git.example.com//team/",
    "https://git.example.com/team//",
    "https://git.example.com/%2e%2e/team/",
    "https://git.example.com/team%2fa/",
    "https://git.example.com/team/..;/",
    "https://git.example.com/team;a/",
    "https://git.example.com/%c0%ae%c0%ae/",
    "https://git.example.com\\team",
    "https://git.example.com:0/",
    "https://git.example.com:99999",
    "https://git.example.com.",
    "https://127.1",
    "https://0x7f.1",
    "https://gït.example.com",
    "https://git.example.com /",
    "ftp://git.example.com",
    "file:///etc",
    `https://git.example.com/${"a".repeat(2048)}`
  ])("%p is refused as an origin", (text) => {
    expect(given(text)).toBeUndefined()
  })

  test("the stored form of an origin accepts only the canonical spelling", () => {
    expect(Schema.is(CredentialOrigin)("https://git.example.com/team/")).toBe(true)
    expect(Schema.is(CredentialOrigin)("https://git.example.com/team")).toBe(false)
    expect(Schema.is(CredentialOrigin)("https://git.example.com/")).toBe(false)
  })
})

describe("Credential origins: addresses within origins", () => {
  const team = [CredentialOrigin.make("https://git.example.com/team/")]
  const whole = [CredentialOrigin.make("https://git.example.com")]

  test.each([
    "https://git.example.com/team/a.git",
    "https://git.example.com/team/a/b.git/info/refs",
    "https://GIT.example.com:443/team/a",
    "https://git.example.com/team/a%20b",
    "https://git.example.com/team"
  ])("the address %s is within the prefix", (url) => {
    expect(isWithinOrigins(team, url)).toBe(true)
    expect(isWithinOrigins(whole, url)).toBe(true)
  })

  test.each([
    "https://git.example.com/teams/a",
    "https://git.example.com/team.git",
    "https://git.example.com/Team/a",
    "https://git.example.com/other/team/a",
    "https://git.example.com/%74eam/a",
    "https://git.example.com/team;x/a"
  ])("the address %s is on the server, but not within the prefix", (url) => {
    expect(isWithinOrigins(team, url)).toBe(false)
    expect(isWithinOrigins(whole, url)).toBe(true)
  })

  test.each([
    "https://git.example.com/team/..;/other/a",
    "https://git.example.com/team/.;/../other/a",
    "https://git.example.com/team/%c0%ae%c0%ae/other/a"
  ])("the address %s might leave the prefix on some servers", (url) => {
    expect(isWithinOrigins(team, url)).toBe(false)
  })

  test.each([
    "https://git.example.com/team/../other/a",
    "https://git.example.com/team/%2e%2e/other/a",
    "https://git.example.com/team%2f..%2fother/a",
    "https://git.example.com/team/..%2fother",
    "https://git.example.com/team/..\\other",
    "https://git.example.com//team/a",
    "https://git.example.com/team//a",
    "https://git.example.com/team/%252e%252e/a",
    "https://git.example.com/team/a?x",
    "https://git.example.com/team/a#x",
    "https://git.example.com@evil.example/team/a",
    "https://git.example.com:x@evil.example/team/a",
    "https://evil.example\\@git.example.com/team/a",
    "https://git.example.com.evil.example/team/a",
    "https://git.example.com./team/a",
    "https://git.example.comevil/team/a",
    "https://git.example.com:8443/team/a",
    "http://git.example.com/team/a",
    "http://git.example.com:443/team/a",
    "ssh://git.example.com/team/a",
    "https://evil.example/https://git.example.com/team/a",
    "//git.example.com/team/a",
    "https://git.example.com\n/team/a",
    ""
  ])("the address %p is within neither origin", (url) => {
    expect(isWithinOrigins(team, url)).toBe(false)
    expect(isWithinOrigins(whole, url)).toBe(false)
  })

  test("no address is within an empty list of origins", () => {
    expect(isWithinOrigins([], "https://git.example.com/team/a")).toBe(false)
  })
})
