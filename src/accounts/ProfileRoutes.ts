import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { AccountNotice, AccountNotices } from "../../actors/account/AccountNotices.ts"
import { AddressChanges } from "../../actors/account/AddressChanges.ts"
import { Sessions } from "../../actors/account/Sessions.ts"
import { Users } from "../../actors/account/Users.ts"
import { AddressLinkState } from "../../schema/records/AccountLink.ts"
import { displayText, Timestamp } from "../../schema/records/Primitives.ts"
import { currentRequestId } from "../http/Exchange.ts"
import type { HttpSettings } from "../http/HttpSettings.ts"
import { AttemptLimits } from "./AttemptLimits.ts"
import { authBody, SecretText } from "./AuthBody.ts"
import { commandOf, signedIn, signedInAndConfirmed, signedInToChange } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"

const nameBody = authBody(Schema.Struct({ displayName: Schema.NullOr(displayText(80)) }), "{displayName}, text or null")
const linkBody = authBody(Schema.Struct({ secret: SecretText }), "{secret}")
const addressBody = authBody(Schema.Struct({ email: Schema.String }), "{email}")
const seenBody = authBody(Schema.Struct({ noticeId: Schema.String }), "{noticeId}")

const encodeNotices = HttpServerResponse.schemaJson(Schema.Struct({ notices: Schema.Array(AccountNotice) }))
const encodeChange = HttpServerResponse.schemaJson(Schema.Struct({ change: AddressLinkState }))
const encodeMailed = HttpServerResponse.schemaJson(Schema.Struct({ expiresAt: Timestamp }))

const done = HttpServerResponse.empty({ status: 204 })

const rename = Effect.gen(function* () {
  const principal = yield* signedInToChange
  const users = yield* Users
  const { displayName } = yield* nameBody
  yield* users.rename(yield* commandOf(principal), principal.subject, displayName)
  return done
})

/** The answer says nothing about other accounts, and the secret is in the mail alone. */
const mailAddressLink = Effect.gen(function* () {
  const { subject } = yield* signedInAndConfirmed
  const limits = yield* AttemptLimits
  yield* limits.consume("address_link", { subject })
  const changes = yield* AddressChanges
  const { email } = yield* addressBody
  return yield* Effect.orDie(encodeMailed(yield* changes.mail(subject, email), { status: 202 }))
})

const inspectAddress = Effect.gen(function* () {
  const { subject } = yield* signedInToChange
  const changes = yield* AddressChanges
  const { secret } = yield* linkBody
  return yield* Effect.orDie(encodeChange({ change: yield* changes.inspect(subject, secret) }))
})

const changeAddress = Effect.gen(function* () {
  const principal = yield* signedInAndConfirmed
  const changes = yield* AddressChanges
  const { secret } = yield* linkBody
  yield* changes.redeem(yield* commandOf(principal), principal.subject, secret)
  return done
})

const listNotices = Effect.gen(function* () {
  const { subject } = yield* signedIn
  const notices = yield* AccountNotices
  return yield* Effect.orDie(encodeNotices({ notices: yield* notices.unseen(subject) }))
})

const seeNotices = Effect.gen(function* () {
  const { subject } = yield* signedInToChange
  const notices = yield* AccountNotices
  const { noticeId } = yield* seenBody
  yield* notices.see(subject, noticeId)
  return done
})

/** Ends every session of the person but this one. */
const revokeOthers = Effect.gen(function* () {
  const { credentialId, subject } = yield* signedInToChange
  const sessions = yield* Sessions
  yield* sessions.revokeAll(subject, credentialId, yield* currentRequestId)
  return done
})

/** The routes of the profile, as method and path, to distinguish a wrong method from an unknown path. */
export const profileRouteTable = [
  ["POST", "/auth/profile"],
  ["POST", "/auth/address"],
  ["POST", "/auth/address/inspect"],
  ["POST", "/auth/address/link"],
  ["GET", "/auth/notices"],
  ["POST", "/auth/notices/seen"],
  ["POST", "/auth/sessions/revoke-others"]
] as const

/** What a person changes about their own account, besides the ways to sign in. */
export const profileRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provided = uncached(
      yield* Effect.context<AccountNotices | AddressChanges | AttemptLimits | HttpSettings | Sessions | Users>()
    )
    yield* router.add("POST", "/auth/profile", provided(rename))
    yield* router.add("POST", "/auth/address", provided(changeAddress))
    yield* router.add("POST", "/auth/address/inspect", provided(inspectAddress))
    yield* router.add("POST", "/auth/address/link", provided(mailAddressLink))
    yield* router.add("GET", "/auth/notices", provided(listNotices))
    yield* router.add("POST", "/auth/notices/seen", provided(seeNotices))
    yield* router.add("POST", "/auth/sessions/revoke-others", provided(revokeOthers))
  })
)
