import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ChallengePurpose } from "../../../actors/access/account/PasskeyChallenges.ts"
import { newPerson, text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, call, openSession } from "./support/AccountServer.ts"
import {
  authenticationOf,
  challengeText,
  type PasskeyVector,
  passkeyVectors,
  registrationOf
} from "./support/PasskeyVectors.ts"

const fresh = Effect.provide(Layer.fresh(AccountServer.layerAt("https://example.org")))
let caller = 0

/** Makes the server issue the challenge that the recorded response contains. */
const challenge = Effect.fnUntraced(function* (value: string, purpose: ChallengePurpose, subject?: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO passkey_challenges ${sql.insert({
    id: `pkc_${caller++}`,
    challenge: value,
    purpose,
    subject: subject ?? null,
    expires_at: "2099-01-01T00:00:00.000Z"
  })}`
})

const registered = Effect.fnUntraced(function* (vector: PasskeyVector) {
  const { subject } = yield* newPerson(`vector-${caller++}`)
  const { secret, session } = yield* openSession(subject)
  yield* challenge(challengeText(vector.registration), `registration:${session.id}`, subject)
  const headers = { cookie: `__Host-svc_session=${text(secret)}`, "sec-fetch-site": "same-origin" }
  const answer = yield* call("/auth/passkeys", {
    body: { name: vector.name, response: registrationOf(vector) },
    headers
  })
  return { answer, subject }
})

const signedIn = Effect.fnUntraced(function* (vector: PasskeyVector, response: unknown = authenticationOf(vector)) {
  yield* challenge(challengeText(vector.authentication), "sign_in")
  return yield* call("/auth/passkeys/sign-in", { body: { response }, address: `203.0.113.${++caller}` })
})

it.effect(
  "passkeys accept the specification's test vectors for registration and sign-in, and reject them if any bit changes",
  () =>
    Effect.gen(function* () {
      const vector = passkeyVectors.verified
      const { answer, subject } = yield* registered(vector)
      expect(answer).toMatchObject({ status: 201, json: { passkey: { name: vector.name } } })
      const good = authenticationOf(vector)
      const { signature } = vector.authentication
      const last = signature.endsWith("0") ? "1" : "0"
      const flipped = Buffer.from(`${signature.slice(0, -1)}${last}`, "hex").toString("base64url")
      const wrong = { ...good, response: { ...good.response, signature: flipped } }
      expect((yield* signedIn(vector, wrong)).status).toBe(401)
      expect(yield* signedIn(vector)).toMatchObject({ status: 200, json: { subject } })
    }).pipe(fresh)
)

it.effect("passkey verification rejects a test vector whose authenticator did not verify the user", () =>
  Effect.gen(function* () {
    const { answer } = yield* registered(passkeyVectors.unverified)
    expect(answer.status).toBe(400)
    const once = yield* registered(passkeyVectors.verifiedOnce)
    expect(once.answer.status).toBe(201)
    expect((yield* signedIn(passkeyVectors.verifiedOnce)).status).toBe(401)
  }).pipe(fresh)
)

it.effect("a signed and verified passkey response from inside another site's frame is rejected", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { answer } = yield* registered(passkeyVectors.framed)
    expect(answer.status).toBe(400)
    // The same passkey, if registered outside a frame, cannot sign in from within a frame.
    const { framed } = passkeyVectors
    yield* sql`DELETE FROM passkey_challenges`
    const outside = { ...framed, registration: { ...framed.registration, crossOrigin: false } }
    expect((yield* registered(outside)).answer.status).toBe(201)
    expect((yield* signedIn(framed)).status).toBe(401)
  }).pipe(fresh)
)
