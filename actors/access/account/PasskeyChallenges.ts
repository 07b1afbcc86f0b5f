import { DateTime, Effect, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { retention } from "../../../schema/records/Retention.ts"
import { newId, now } from "../../base/Identity.ts"
import { PasskeyChallengeRow } from "./PasskeyRow.ts"

const validFor = retention.passkeyChallenge.after
const challengeBytes = 32

/** The purpose of a challenge, and the session or setup link that requested the challenge. */
export type ChallengePurpose = "sign_in" | `registration:${string}` | `confirmation:${string}` | `setup:${string}`

/** Creates a challenge that is valid for five minutes and one response. `subject` is the person who may respond, if known. */
export const issueChallenge = Effect.fn("issueChallenge")(function* (
  purpose: ChallengePurpose,
  subject: string | null
) {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const bytes = new Uint8Array(yield* random.randomBytes(challengeBytes))
  const at = yield* DateTime.now
  yield* sql`DELETE FROM passkey_challenges WHERE expires_at <= ${DateTime.formatIso(at)}`
  yield* sql`INSERT INTO passkey_challenges ${PasskeyChallengeRow.values(sql, {
    id: yield* newId(Schema.String, "pkc"),
    challenge: Base64Url.encode(bytes),
    purpose,
    subject,
    expires_at: DateTime.formatIso(DateTime.addDuration(at, validFor))
  })}`
  return bytes
}, Effect.orDie)

/**
 * Uses up the challenge of a setup link. Returns the subject that the challenge was issued to, or `undefined` where {@link
 * spendChallenge} would return `false`.
 */
export const spendSetupChallenge = Effect.fn("spendSetupChallenge")(function* (challenge: string, linkId: string) {
  const sql = yield* SqlClient.SqlClient
  const purpose: ChallengePurpose = `setup:${linkId}`
  const [spent] = yield* PasskeyChallengeRow.some(sql, "subject")`DELETE FROM passkey_challenges
    WHERE challenge = ${challenge} AND purpose = ${purpose} AND expires_at > ${yield* now} RETURNING subject`
  return spent?.subject ?? undefined
}, Effect.orDie)

/**
 * Uses up the challenge. Returns `false` if the challenge is unknown, used or expired, or was issued for another purpose or
 * person.
 */
export const spendChallenge = Effect.fn("spendChallenge")(function* (
  challenge: string,
  purpose: ChallengePurpose,
  subject: string | null
) {
  const sql = yield* SqlClient.SqlClient
  const spent = yield* sql`DELETE FROM passkey_challenges
    WHERE challenge = ${challenge} AND purpose = ${purpose} AND COALESCE(subject, '') = ${subject ?? ""}
      AND expires_at > ${yield* now} RETURNING id`
  return spent.length === 1
}, Effect.orDie)

// Detects responses from frames, because svc's pages are never framed (WebAuthn Level 3, 7.1 step 11 and 7.2 step 14). svc
// checks this itself, because the library accepts such a response if the browser does not report the top-level page.
const ClientData = Schema.Struct({
  challenge: Schema.String,
  crossOrigin: Schema.optionalKey(Schema.Literal(false)),
  topOrigin: Schema.optionalKey(Schema.Never)
})
const decodeClientData = Schema.decodeUnknownOption(Schema.fromJsonString(ClientData))

/**
 * Returns the challenge in a response. Returns an empty string if there is no challenge, or if the response was created in a
 * frame on another site.
 */
export const claimedChallenge = (clientDataJSON: string): string => {
  const text = Base64Url.decodeString(clientDataJSON)
  const data = Result.isSuccess(text) ? decodeClientData(text.success) : undefined
  return data?._tag === "Some" ? data.value.challenge : ""
}
