import { expect, test } from "bun:test"
import { createHmac } from "node:crypto"
import { Effect, Stream } from "effect"
import { hookIsAuthentic, type HookProof } from "../../../actors/source/SourceHook.ts"

const secret = "whs_0123456789"
const body = new TextEncoder().encode('{"ref":"refs/heads/main"}')
/** Two pieces, since a body arrives in pieces. */
const isAuthentic = (proof: Omit<HookProof, "body">) =>
  Effect.runPromise(hookIsAuthentic(secret, { body: Stream.make(body.subarray(0, 5), body.subarray(5)), ...proof }))
const signed = (key: string, bytes: Uint8Array) => `sha256=${createHmac("sha256", key).update(bytes).digest("hex")}`

test("a delivery is authenticated by a signature over its raw body, or by the secret itself", async () => {
  expect(await isAuthentic({ signature256: signed(secret, body) })).toBe(true)
  expect(await isAuthentic({ gitlabToken: secret })).toBe(true)
  expect(await isAuthentic({ bearer: secret })).toBe(true)
})

const other = new TextEncoder().encode('{"ref": "refs/heads/main"}')
test.each([
  ["no proof", {}],
  ["a signature with another secret", { signature256: signed("whs_other", body) }],
  ["a signature over another body", { signature256: signed(secret, other) }],
  ["a signature without its scheme", { signature256: signed(secret, body).slice("sha256=".length) }],
  ["an empty signature", { signature256: "" }],
  ["another token", { gitlabToken: `${secret}0` }],
  ["an empty token", { gitlabToken: "" }],
  ["another bearer", { bearer: secret.toUpperCase() }],
  ["two proofs, both right", { bearer: secret, gitlabToken: secret }],
  ["a right proof beside a wrong one", { bearer: secret, signature256: "sha256=0" }]
])("%s is refused", async (_name, proof) => {
  expect(await isAuthentic(proof)).toBe(false)
})
