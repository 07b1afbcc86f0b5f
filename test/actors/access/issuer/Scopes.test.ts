import { expect, test } from "bun:test"
import { isSubset, parseScopes } from "../../../../actors/access/issuer/Scopes.ts"

test("parsing a scope list yields distinct scopes, in order", () => {
  expect(parseScopes("openid read openid")).toEqual(["openid", "read"])
  expect(parseScopes("  openid   read ")).toEqual(["openid", "read"])
  expect(parseScopes("")).toEqual([])
  expect(parseScopes("api:things/read")).toEqual(["api:things/read"])
})

test.each(["a\tb", "a\nb", 'a"b', "a\\b", "é", "a".repeat(129), "openid a\u007f"])(
  "the string %p contains no valid scope",
  (text) => {
    expect(parseScopes(text)).toBeUndefined()
  }
)

test("a scope list is a subset of another list only if the other list contains all of its scopes", () => {
  expect(isSubset([], [])).toBe(true)
  expect(isSubset(["read"], ["write", "read"])).toBe(true)
  expect(isSubset(["read", "write"], ["read"])).toBe(false)
  expect(isSubset(["Read"], ["read"])).toBe(false)
})
