import { expect, test } from "bun:test"
import { isOffered, type OfferedSignInMethods } from "../../../../actors/access/account/SignInMethods.ts"

const none: OfferedSignInMethods = { password: false, passkeys: false, upstreamIssuer: undefined }
const password = { kind: "password", issuer: "" } as const
const passkey = { kind: "passkey", issuer: "" } as const
const upstream = { kind: "upstream", issuer: "https://id.example.com/" } as const

test("a sign-in method of an account counts only while the installation offers the method", () => {
  expect([password, passkey, upstream].filter((method) => isOffered(method, none))).toEqual([])
  expect(isOffered(password, { ...none, password: true })).toBe(true)
  expect(isOffered(passkey, { ...none, passkeys: true })).toBe(true)
  expect(isOffered(passkey, { ...none, password: true })).toBe(false)
})

test("an identity counts if its issuer is the sign-in provider, even if only one of the two URLs has a trailing slash", () => {
  expect(isOffered(upstream, { ...none, upstreamIssuer: "https://id.example.com" })).toBe(true)
  expect(
    isOffered({ ...upstream, issuer: "https://id.example.com" }, { ...none, upstreamIssuer: upstream.issuer })
  ).toBe(true)
  expect(isOffered(upstream, { ...none, upstreamIssuer: "https://other.example.com" })).toBe(false)
})
