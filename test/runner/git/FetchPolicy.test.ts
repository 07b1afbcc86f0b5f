import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"

const parse = (text: string, allowOrigins: ReadonlyArray<string> = []) => fetchableAddress(text, { allowOrigins })
const accepted = (text: string) => Result.match(parse(text), { onSuccess: String, onFailure: () => undefined })
const message = (text: string) => Result.match(parse(text), { onSuccess: () => undefined, onFailure: (e) => e.message })

describe("GitAddress", () => {
  for (const [text, expected] of [
    ["https://github.com/team/repository", "https://github.com/team/repository"],
    ["https://github.com/team/repository.git/", "https://github.com/team/repository.git"],
    ["https://GitHub.com/Team/Repo", "https://github.com/Team/Repo"],
    ["https://git.example:443/a", "https://git.example/a"],
    ["https://git.example:8443/a/b/c%20d", "https://git.example:8443/a/b/c%20d"],
    ["https://93.184.216.34/a", "https://93.184.216.34/a"],
    ["https://[2606:2800:220:1::1]/a", "https://[2606:2800:220:1::1]/a"]
  ] as const)
    test(`accepts ${text}`, () => expect(accepted(text)).toBe(expected))

  for (const text of [
    "",
    "github.com/team/repository",
    "http://github.com/a/b",
    "git://github.com/a/b",
    "ssh://git@github.com/a/b",
    "file:///etc/passwd",
    "ext::sh -c id",
    "javascript:alert(1)",
    "git@github.com:a/b",
    "git::https://github.com/a/b",
    "HTTPS://github.com/a/b",
    "ht\ntps://github.com/a/b",
    "https:github.com/a",
    "https:/github.com/a",
    "https:///a/b",
    "https://github.com",
    "https://github.com/",
    "https://github.com//a",
    "https://github.com/a//b",
    "https://github.com/a/../b",
    "https://github.com/a/./b",
    "https://github.com/a/%2e%2e/b",
    "https://github.com/a%2fb",
    "https://github.com/a%00",
    "https://github.com/a?x=1",
    "https://github.com/a?",
    "https://github.com/a#b",
    "https://github.com/a#",
    "https://u:p@github.com/a",
    "https://u@github.com/a",
    "https://github.com@evil.example/a",
    "https://github.com\\@evil.example/a",
    "https://github.com#@evil.example/a",
    "https://github.com/a b",
    " https://github.com/a",
    "https://github.com/\u00e4",
    "https://b\u00fccher.example/a",
    "https://github.com./a",
    "https://localhost./a",
    "https://git.example:22/a",
    "https://git.example:99999/a",
    "https://127.0.0.1/a",
    "https://127.1/a",
    "https://0x7f.1/a",
    "https://2130706433/a",
    "https://0177.0.0.1/a",
    "https://0/a",
    "https://[::1]/a",
    "https://[::]/a",
    "https://[::ffff:127.0.0.1]/a",
    "https://[::ffff:7f00:1]/a",
    "https://[64:ff9b::7f00:1]/a",
    "https://[fd00::1]/a",
    "https://\uff11\uff12\uff17.0.0.1/a",
    "https://169.254.169.254/latest",
    "https://100.64.0.1/a",
    "https://10.0.0.1/a",
    "https://172.16.0.1/a",
    "https://192.168.0.1/a",
    `https://github.com/${"a".repeat(2048)}`
  ])
    test(`the fetch policy rejects the address ${JSON.stringify(text.slice(0, 60))}`, () =>
      expect(Result.isFailure(parse(text))).toBe(true))

  test("only an allowed origin may use plain http or a private address", () => {
    expect(Result.isSuccess(parse("http://127.0.0.1:3000/a.git", ["http://127.0.0.1:3000"]))).toBe(true)
    expect(Result.isSuccess(parse("https://10.0.0.1:3000/a.git", ["https://10.0.0.1:3000"]))).toBe(true)
    expect(Result.isSuccess(parse("http://127.0.0.1:3001/a.git", ["http://127.0.0.1:3000"]))).toBe(false)
    expect(Result.isSuccess(parse("https://127.0.0.1:3000/a.git", ["http://127.0.0.1:3000"]))).toBe(false)
    expect(Result.isSuccess(parse("http://u:p@127.0.0.1:3000/a.git", ["http://127.0.0.1:3000"]))).toBe(false)
  })

  test("the error about a rejected address never repeats the input", () => {
    for (const text of ["https://user:hunter2@h/r", "https://h/r?token=hunter2", "hunter2"])
      expect(message(text)).not.toContain("hunter2")
  })
})

test("the error about an http address contains the setting that allows it", () => {
  const refused = fetchableAddress("http://git.internal:3000/team/repository.git", { allowOrigins: [] })
  expect(Result.isFailure(refused) ? refused.failure.message : "").toContain("SVC_GIT_ALLOW_ORIGINS")
})
