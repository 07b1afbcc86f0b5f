import { describe, expect, test } from "bun:test"
import { Option, Schema } from "effect"
import { addressForms, EmailAddress, EmailDomain, withStoredSpelling } from "../../../schema/records/EmailAddress.ts"

const decode = Schema.decodeUnknownOption(EmailAddress)

describe("an email address is stored in the form used for delivery", () => {
  test.each([
    ["Ann@Example.com", "ann@example.com"],
    ["  ann@example.com\n", "ann@example.com"],
    ["o'neill+x=y@mail.example.com", "o'neill+x=y@mail.example.com"],
    ["ann@localhost", "ann@localhost"],
    ["jo\u0308rg@example.com", "j\u00f6rg@example.com"],
    ["bob@b\u00fccher.example", "bob@xn--bcher-kva.example"],
    ["bob@BU\u0308CHER.example", "bob@xn--bcher-kva.example"],
    ["bob@xn--bcher-kva.example", "bob@xn--bcher-kva.example"],
    ["bob@\u4f8b\u3048\u3002\u30c6\u30b9\u30c8", "bob@xn--r8jz45g.xn--zckzah"],
    ["bob@\uff45\uff58\uff41\uff4d\uff50\uff4c\uff45\uff0e\uff43\uff4f\uff4d", "bob@example.com"],
    [`${"a".repeat(64)}@example.com`, `${"a".repeat(64)}@example.com`]
  ])("the email address %j becomes %j", (given, stored) => {
    expect(Option.getOrUndefined(decode(given))).toBe(stored)
    expect(Option.getOrUndefined(decode(stored))).toBe(stored)
    expect(withStoredSpelling(given)).toBe(stored)
  })
})

describe("an email address that no mail server accepts is rejected", () => {
  test.each([
    "",
    "ann",
    "@example.com",
    "ann@",
    "<ann@example.com",
    "ann@example.com>",
    "Ann <ann@example.com>",
    "ann@example.com,eve@example.com",
    "ann@example.com\r\nBcc: eve@example.com",
    "ann smith@example.com",
    '"ann smith"@example.com',
    "ann@eve@example.com",
    ".ann@example.com",
    "ann.@example.com",
    "ann..smith@example.com",
    "ann(comment)@example.com",
    "\uff41nn@example.com",
    "\ufb01n@example.com",
    "an\u200bn@example.com",
    "ann\u2060@example.com",
    "an\u202en@example.com",
    "an\u00adn@example.com",
    "an\u3164n@example.com",
    "an\ufe0fn@example.com",
    "an\u034fn@example.com",
    "ann@exam\u200bple.com",
    "ann@exam\u00adple.com",
    "ann@exam\ufe0fple.com",
    "ann@example.com\u200b",
    "ann@example..com",
    "ann@.example.com",
    "ann@example.com.",
    "ann@-example.com",
    "ann@exam_ple.com",
    "ann@exam%70le.com",
    "ann@example.com:25",
    "ann@example.com/path",
    "ann@127.0.0.1",
    "ann@0x7f000001",
    "ann@[127.0.0.1]",
    "ann@[::1]",
    "ann@xn--a.example",
    `${"a".repeat(65)}@example.com`,
    `${"\u00f6".repeat(33)}@example.com`,
    `ann@${"a".repeat(64)}.example`,
    `ann@${`${"a".repeat(60)}.`.repeat(4)}example`
  ])("%j", (given) => {
    expect(Option.isNone(decode(given))).toBe(true)
  })
})

test("an email address is looked up both in the current form and in the form of earlier releases", () => {
  expect(addressForms(" Bob@B\u00fccher.example")).toEqual(["bob@b\u00fccher.example", "bob@xn--bcher-kva.example"])
  expect(addressForms("an\u200bn@example.com")).toEqual(["an\u200bn@example.com", "an\u200bn@example.com"])
})

test("an email domain in a rule is stored in the same form as in addresses", () => {
  const is = Schema.is(EmailDomain)
  expect(["example.com", "mail.example.com", "xn--bcher-kva.example"].map((text) => is(text))).toEqual([
    true,
    true,
    true
  ])
  const refused = [
    "",
    "example",
    "Example.com",
    "b\u00fccher.example",
    "*.example.com",
    "example.com.",
    "10.0.0.1",
    "a b.c"
  ]
  expect(refused.filter((text) => is(text))).toEqual([])
})
