import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server"
import { Context, Effect, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { Subject } from "../../../schema/records/Ids.ts"
import {
  creationOptions,
  NewPasskeys,
  refusedRegistration,
  type RelyingParty,
  type VerifiedPasskey
} from "../account/NewPasskeys.ts"
import { claimedChallenge, issueChallenge, spendSetupChallenge } from "../account/PasskeyChallenges.ts"
import { Passwords } from "../account/Passwords.ts"
import type { PasskeyRedemption, PasswordRedemption, Redemption } from "../account/SetupLinks.ts"
import { type OpenSession, Sessions } from "../account/Sessions.ts"
import { Users } from "../account/Users.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId } from "../../base/Identity.ts"
import { InvitationAcceptance } from "./InvitationAcceptance.ts"
import type { InvitationRow } from "./InvitationRow.ts"
import { providedService } from "../../base/Provided.ts"

type NewSignInMethod =
  | { readonly kind: "password"; readonly hash: string }
  | { readonly kind: "passkey"; readonly subject: Subject; readonly verified: VerifiedPasskey }

type SignedUp = OpenSession & { readonly subject: string }

/**
 * The error for every refused address. It contains no reason, so that it does not reveal whether an address has an account.
 */
const refusedAddress = () =>
  failedPrecondition("No account can be created with this address. If you have one, sign in and open the link again.")

/**
 * Creates accounts by invitation. One transaction creates the account, accepts the invitation and opens the session, so a link
 * creates at most one account.
 */
export class InvitedSignUp extends Context.Service<
  InvitedSignUp,
  {
    /** Fails as `InvitationAcceptance.accept` does, and with `failed_precondition` if the address cannot be used. */
    readonly withPassword: (redemption: PasswordRedemption) => Effect.Effect<SignedUp, ApiError>
    /** Returns the options for creating a passkey in the browser instead of a password. Does not use up the link. */
    readonly passkeyOptions: (
      party: RelyingParty,
      redemption: Redemption
    ) => Effect.Effect<PublicKeyCredentialCreationOptionsJSON, ApiError>
    /**
     * Fails as `withPassword` does, and with `invalid_request` if the browser's response is invalid; in that case, the link
     * remains valid.
     */
    readonly withPasskey: (redemption: PasskeyRedemption) => Effect.Effect<SignedUp, ApiError>
  }
>()("svc/actors/access/member/InvitedSignUp") {
  static readonly layer = Layer.effect(
    InvitedSignUp,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const users = yield* Users
      const passwords = yield* Passwords
      const sessions = yield* Sessions
      const newPasskeys = yield* NewPasskeys
      const acceptance = yield* InvitationAcceptance

      const goodLink = (secret: Redacted.Redacted) => acceptance.forSignUp(secret)

      /** Prefers the invitation's verified address over the address in the request. */
      const addressOf = (row: InvitationRow, { email }: Redemption) => {
        if (row.email !== null) return Effect.succeed(row.email)
        return email === undefined
          ? Effect.fail(invalidRequest("email: give the address of the account."))
          : users.parseEmail(email)
      }

      const enter = Effect.fnUntraced(function* (row: InvitationRow, redemption: Redemption, method: NewSignInMethod) {
        const { requestId, userAgent } = redemption
        const named = requestId === undefined ? {} : { requestId }
        const service: CommandContext = { actor: { kind: "service" }, actorKey: "invitation", ...named }
        const { subject } = yield* users
          .create(service, {
            email: yield* addressOf(row, redemption),
            emailProof: row.proof ?? undefined,
            displayName: redemption.displayName,
            isOperator: false,
            ...(method.kind === "password" ? { passwordHash: method.hash } : { subject: method.subject })
          })
          .pipe(Effect.mapError((error) => (error.code === "failed_precondition" ? refusedAddress() : error)))
        const context: CommandContext = { actor: { kind: "user", subject }, actorKey: subject, ...named }
        if (method.kind === "passkey") yield* newPasskeys.insert(context, subject, method.verified)
        yield* acceptance.admit(context, subject, row)
        const opened = yield* sessions.open({ subject, method: method.kind, userAgent, requestId })
        return { ...opened, subject }
      }, transaction(sql))

      return yield* providedService(InvitedSignUp, {
        withPassword: Effect.fn("InvitedSignUp.withPassword")(function* (redemption) {
          const row = yield* goodLink(redemption.secret)
          // Hash the password before checking the address, so that a refusal takes as long as a success and reveals nothing.
          const hash = yield* passwords.hash(redemption.password)
          return yield* enter(row, redemption, { kind: "password", hash })
        }),
        passkeyOptions: Effect.fn("InvitedSignUp.passkeyOptions")(function* (party, redemption) {
          const row = yield* goodLink(redemption.secret)
          const email = yield* addressOf(row, redemption)
          const subject = yield* newId(Subject, "usr")
          const { displayName } = redemption
          const challenge = yield* issueChallenge(`setup:${row.id}`, subject)
          return yield* creationOptions(party, { subject, email, displayName, known: [] }, challenge)
        }),
        withPasskey: Effect.fn("InvitedSignUp.withPasskey")(function* (redemption) {
          const { answer, name, party } = redemption
          const row = yield* goodLink(redemption.secret)
          const challenge = claimedChallenge(answer.response.clientDataJSON)
          const subject = yield* spendSetupChallenge(challenge, row.id)
          if (subject === undefined) return yield* refusedRegistration()
          const verified = yield* newPasskeys.verify(party, name, challenge, answer)
          return yield* enter(row, redemption, { kind: "passkey", subject, verified })
        })
      })
    })
  )
}
