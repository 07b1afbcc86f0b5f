import { expect, test } from "bun:test"
import { createHmac } from "node:crypto"
import { Effect, Stream } from "effect"
import { type HookProofs, provenSecret } from "../../../../actors/ledger/source/WebhookSignature.ts"

const secret = "whs_0123456789"
const body = new TextEncoder().encode('{"ref":"refs/heads/main"}')
/** Sends the body in two chunks, as a network might. */
const proven = (known: ReadonlyArray<string>, proofs: HookProofs) =>
  Effect.runPromise(provenSecret(known, proofs, Stream.make(body.subarray(0, 5), body.subarray(5))))
const isAuthentic = async (proofs: HookProofs) => (await proven([secret], proofs)) === secret
const signed = (key: string, bytes: Uint8Array) => `sha256=${createHmac("sha256", key).update(bytes).digest("hex")}`
const standardKey = Buffer.from(secret, "base64url")
const standard = (key: Uint8Array | string, id = "msg_1", timestamp = "1790000000") => ({
  id,
  timestamp,
  signatures: `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`
})
const { signatures: standardSignature } = standard(standardKey)
const other = new TextEncoder().encode('{"ref": "refs/heads/main"}')

test.each([
  ["a signature over its raw body", { signatures: [signed(secret, body)] }],
  ["the secret itself", { secrets: [secret] }],
  ["a signature by Standard Webhooks", { standard: standard(standardKey) }],
  [
    "one of several signatures by Standard Webhooks",
    { standard: { ...standard(standardKey), signatures: `v1a,abc v1,AAAA ${standardSignature}` } }
  ],
  ["the same secret twice", { secrets: [secret, secret] }],
  ["the same signature in three headers", { signatures: Array.from({ length: 3 }, () => signed(secret, body)) }],
  ["a signature and the secret", { signatures: [signed(secret, body)], secrets: [secret] }],
  ["all proofs at once", { signatures: [signed(secret, body)], secrets: [secret], standard: standard(standardKey) }]
])("a webhook delivery can be authenticated by %s", async (_name, proofs) => {
  expect(await isAuthentic(proofs)).toBe(true)
})

test.each<readonly [string, HookProofs]>([
  ["no proof", {}],
  ["empty lists of proofs", { signatures: [], secrets: [] }],
  ["a signature with another secret", { signatures: [signed("whs_other", body)] }],
  ["a signature over another body", { signatures: [signed(secret, other)] }],
  ["a signature without its scheme", { signatures: [signed(secret, body).slice("sha256=".length)] }],
  ["an empty signature", { signatures: [""] }],
  ["another secret", { secrets: [`${secret}0`] }],
  ["an empty secret", { secrets: [""] }],
  ["the secret in capitals", { secrets: [secret.toUpperCase()] }],
  ["a right secret and a wrong signature", { secrets: [secret], signatures: ["sha256=0"] }],
  ["a right signature and a wrong secret", { secrets: ["wrong"], signatures: [signed(secret, body)] }],
  ["a right and a wrong signature", { signatures: [signed(secret, body), signed("whs_other", body)] }],
  ["a right and a wrong secret", { secrets: [secret, "wrong"] }],
  ["a standard signature with another key", { standard: standard("another key") }],
  ["a standard signature of another message", { standard: { ...standard(standardKey), id: "msg_2" } }],
  ["a standard signature of another time", { standard: { ...standard(standardKey), timestamp: "1790000001" } }],
  [
    "a standard signature without its version",
    { standard: { ...standard(standardKey), signatures: standardSignature.slice(3) } }
  ],
  ["a right secret and a wrong standard signature", { secrets: [secret], standard: standard("another key") }]
])("a webhook delivery with %s is refused", async (_name, proofs) => {
  expect(await isAuthentic(proofs)).toBe(false)
})

test("every secret and signature in a delivery must correspond to the same valid secret", async () => {
  const former = "whs_former"
  const known = [secret, former]
  expect(await proven(known, { secrets: [former] })).toBe(former)
  expect(await proven(known, { signatures: [signed(former, body)] })).toBe(former)
  expect(await proven(known, { secrets: [secret], signatures: [signed(secret, body)] })).toBe(secret)
  expect(await proven(known, { secrets: [former], signatures: [signed(secret, body)] })).toBeUndefined()
})
