import { expect, test } from "bun:test"
import { claimedChallenge } from "../../../../actors/access/account/PasskeyChallenges.ts"

const answer = (data: unknown) => Buffer.from(JSON.stringify(data)).toString("base64url")
const challenge = "c".repeat(43)

test("the challenge is read from a passkey response", () => {
  expect(claimedChallenge(answer({ challenge, origin: "https://svc.example.com" }))).toBe(challenge)
  expect(claimedChallenge(answer({ challenge, crossOrigin: false }))).toBe(challenge)
})

test("no challenge is read from an unreadable passkey response, or from a response in another site's frame", () => {
  expect(claimedChallenge(answer({ challenge, crossOrigin: true }))).toBe("")
  expect(claimedChallenge(answer({ challenge, topOrigin: "https://other.example.com" }))).toBe("")
  expect(claimedChallenge(answer({}))).toBe("")
  expect(claimedChallenge(answer({ challenge: 1 }))).toBe("")
  expect(claimedChallenge(Buffer.from("{").toString("base64url"))).toBe("")
  expect(claimedChallenge("*")).toBe("")
})
