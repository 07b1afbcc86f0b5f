import { expect, test } from "bun:test"
import { isChallenge, verifierMatches } from "../../../../actors/access/issuer/AuthorizationCodes.ts"

// The example in RFC 7636, appendix B.
const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

test("a PKCE verifier matches the challenge derived from it", () => {
  expect(isChallenge(challenge)).toBe(true)
  expect(verifierMatches(verifier, challenge)).toBe(true)
})

test.each([
  ["another one", `${verifier.slice(0, -1)}l`, challenge],
  ["the challenge itself", challenge, challenge],
  ["one that is too short", "a".repeat(42), challenge],
  ["one that is too long", "a".repeat(129), challenge],
  ["one with other characters", `${verifier} `, challenge],
  ["none", "", challenge],
  ["that of an empty challenge", verifier, ""]
])("a PKCE verifier does not match if it is %s", (_name, given, stored) => {
  expect(verifierMatches(given, stored)).toBe(false)
})

test.each(["", "a".repeat(42), "a".repeat(44), `${"a".repeat(42)}=`, `${"a".repeat(42)}+`])(
  "%p is refused as a PKCE challenge",
  (text) => {
    expect(isChallenge(text)).toBe(false)
  }
)
