import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { AccountNotices } from "../../actors/access/account/AccountNotices.ts"
import { AddressChanges } from "../../actors/access/account/AddressChanges.ts"
import { Sessions } from "../../actors/access/account/Sessions.ts"
import { Users } from "../../actors/access/account/Users.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import { AttemptLimits } from "./AttemptLimits.ts"
import { authBody } from "./AuthBody.ts"
import {
  AddressChange,
  AddressMailed,
  AddressRequest,
  NameRequest,
  NoticeList,
  ProfileApi,
  SeenRequest
} from "./declarations/ProfileApi.ts"
import { LinkRequest } from "./declarations/SignInApi.ts"
import { commandOf, signedIn, signedInAndConfirmed, signedInToChange } from "./SignedIn.ts"
import { uncached } from "./Uncached.ts"

const nameBody = authBody(NameRequest, "{displayName}, text or null")
const linkBody = authBody(LinkRequest, "{secret}")
const addressBody = authBody(AddressRequest, "{email}")
const seenBody = authBody(SeenRequest, "{noticeId}")

const encodeNotices = HttpServerResponse.schemaJson(NoticeList)
const encodeChange = HttpServerResponse.schemaJson(AddressChange)
const encodeMailed = HttpServerResponse.schemaJson(AddressMailed)

const done = HttpServerResponse.empty({ status: 204 })

const rename = Effect.gen(function* () {
  const principal = yield* signedInToChange
  const users = yield* Users
  const { displayName } = yield* nameBody
  yield* users.rename(yield* commandOf(principal), principal.subject, displayName)
  return done
})

/** Sends the link. The response reveals nothing about other accounts, and only the email contains the secret. */
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

/** Closes every session of the person except this one. */
const revokeOthers = Effect.gen(function* () {
  const { credentialId, subject } = yield* signedInToChange
  const sessions = yield* Sessions
  yield* sessions.revokeAll(subject, credentialId, yield* currentRequestId)
  return done
})

/** Routes for changes to a person's own account, except its sign-in methods. */
export const profileRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add(...routeOf(ProfileApi.endpoints.rename), uncached(rename))
    yield* router.add(...routeOf(ProfileApi.endpoints.changeAddress), uncached(changeAddress))
    yield* router.add(...routeOf(ProfileApi.endpoints.inspectAddress), uncached(inspectAddress))
    yield* router.add(...routeOf(ProfileApi.endpoints.mailAddressLink), uncached(mailAddressLink))
    yield* router.add(...routeOf(ProfileApi.endpoints.notices), uncached(listNotices))
    yield* router.add(...routeOf(ProfileApi.endpoints.seeNotices), uncached(seeNotices))
    yield* router.add(...routeOf(ProfileApi.endpoints.revokeOthers), uncached(revokeOthers))
  })
)
