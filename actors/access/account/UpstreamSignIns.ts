import { createHmac } from "node:crypto"
import { Context, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { AddressProof } from "../../../schema/records/Invitation.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { InvitationId, Subject } from "../../../schema/records/Ids.ts"
import { now } from "../../base/Identity.ts"
import { isWellFormed, mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { UpstreamSignInRow } from "./UpstreamIdentities.ts"

const validFor = retention.upstreamSignIn.after

/** Values that bind the provider's response to the browser. All of them are derived from the browser's secret. */
export interface UpstreamProof {
  readonly state: string
  readonly nonce: string
  /** The PKCE verifier, 43 characters long. */
  readonly codeVerifier: Redacted.Redacted
}

export interface StartedSignIn extends UpstreamProof {
  /** Sent only to the browser. */
  readonly secret: Redacted.Redacted
}

const SignInRow = Schema.Struct({
  linkSubject: Schema.NullOr(Subject),
  sessionId: Schema.NullOr(Schema.String),
  invitationId: Schema.NullOr(InvitationId),
  invitationProof: Schema.NullOr(AddressProof),
  returnPath: Schema.String
})

export interface ReturnedSignIn extends UpstreamProof {
  /** The signed-in person who is linking the identity; absent for a sign-in. */
  readonly linkSubject: Subject | null
  /** The session that is confirming or linking an identity; absent for a sign-in. */
  readonly sessionId: string | null
  /** The invitation that allows a person without an account to get an account. */
  readonly invitationId: InvitationId | null
  /** The invitation link's proof of the address. */
  readonly invitationProof: AddressProof | null
  readonly returnPath: string
}

const derive = (secret: Redacted.Redacted, what: string): string =>
  createHmac("sha256", Redacted.value(secret)).update(what).digest("base64url")

const proofOf = (secret: Redacted.Redacted): UpstreamProof => ({
  state: derive(secret, "state"),
  nonce: derive(secret, "nonce"),
  codeVerifier: Redacted.make(derive(secret, "code_verifier"))
})

/**
 * Sign-ins in progress at the upstream provider. Only the browser has the secret; the database contains only its digest.
 * Therefore neither the provider nor anybody who can read the database can complete another browser's sign-in.
 */
export class UpstreamSignIns extends Context.Service<
  UpstreamSignIns,
  {
    /** Starts a sign-in that is valid for ten minutes and one response. */
    readonly begin: (options: {
      readonly linkSubject?: string | undefined
      readonly sessionId?: string | undefined
      readonly invitation?: { readonly id: InvitationId; readonly proof: AddressProof | null } | undefined
      readonly returnPath: string
    }) => Effect.Effect<StartedSignIn>
    /** Uses up the sign-in. Returns `none` if the sign-in is unknown, used or expired. */
    readonly finish: (secret: Redacted.Redacted) => Effect.Effect<Option.Option<ReturnedSignIn>>
  }
>()("svc/actors/access/account/UpstreamSignIns") {
  static readonly layer = Layer.effect(
    UpstreamSignIns,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const spend = SqlSchema.findAll({
        Request: Schema.Struct({ hash: Schema.String, at: Schema.String }),
        Result: SignInRow,
        execute: ({ at, hash }) => sql`DELETE FROM upstream_sign_ins
          WHERE secret_hash = ${hash} AND expires_at > ${at}
          RETURNING link_subject AS "linkSubject", confirm_session AS "sessionId", invitation_id AS "invitationId",
            invitation_proof AS "invitationProof", return_path AS "returnPath"`
      })

      return UpstreamSignIns.of({
        begin: Effect.fn("UpstreamSignIns.begin")(
          function* ({ invitation, linkSubject, returnPath, sessionId }) {
            const secret = yield* mintSecret("upstreamSignIn")
            const at = yield* DateTime.now
            yield* sql`DELETE FROM upstream_sign_ins WHERE expires_at <= ${DateTime.formatIso(at)}`
            yield* sql`INSERT INTO upstream_sign_ins ${UpstreamSignInRow.values(sql, {
              secret_hash: secretHash(secret),
              link_subject: linkSubject ?? null,
              confirm_session: sessionId ?? null,
              invitation_id: invitation?.id ?? null,
              invitation_proof: invitation?.proof ?? null,
              return_path: returnPath,
              expires_at: DateTime.formatIso(DateTime.addDuration(at, validFor))
            })}`
            return { secret, ...proofOf(secret) }
          },
          withRandom,
          Effect.orDie
        ),
        finish: Effect.fn("UpstreamSignIns.finish")(function* (secret) {
          if (!isWellFormed("upstreamSignIn", Redacted.value(secret))) return Option.none()
          const [row] = yield* spend({ hash: secretHash(secret), at: yield* now })
          return row === undefined ? Option.none() : Option.some({ ...row, ...proofOf(secret) })
        }, Effect.orDie)
      })
    })
  )
}
