import { describe, expect } from "bun:test"
import { Effect, Option, Redacted } from "effect"
import { Users } from "../../../actors/access/account/Users.ts"
import { InvitationAcceptance } from "../../../actors/access/member/InvitationAcceptance.ts"
import { Invitations, type InvitationScope, type NewInvitation } from "../../../actors/access/member/Invitations.ts"
import { Members } from "../../../actors/access/member/Members.ts"
import { Memberships } from "../../../actors/ledger/workspace/Memberships.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { as, joinWorkspace, newPerson, newWorkspace, text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import {
  answerOf,
  type Installation,
  installation,
  origin,
  type Pliant,
  upstreamAccounts,
  verifiedPerson
} from "./support/UpstreamInstallation.ts"
import { pliantProvider, type TokenPlan } from "./support/UpstreamIssuer.ts"

const world = Effect.gen(function* () {
  const olga = yield* newPerson("olga")
  const { id } = yield* newWorkspace(olga.subject, { handle: "acme" })
  const provider = yield* pliantProvider
  return { olga: olga.subject, workspaceId: id, provider, here: yield* installation(provider.issuer) }
})

const invite = Effect.fnUntraced(function* (scope: InvitationScope, request: NewInvitation = {}) {
  const invitations = yield* Invitations
  const context = scope.acting === "operator" ? serviceContext : as(scope.acting.subject)
  return text((yield* invitations.create(context, scope, request)).secret)
})

const ours = { "sec-fetch-site": "same-origin", "content-type": "application/json" }

/** Opens the link in the same way as the invitation page. */
const begin = ({ visit }: Installation, secret: string, headers: Record<string, string> = ours) =>
  visit("/auth/upstream/invitation", headers, "POST", JSON.stringify({ secret }))

const joinBy = Effect.fnUntraced(function* (
  here: Installation,
  provider: Pliant,
  secret: string,
  plan: TokenPlan = {}
) {
  const { body, status } = yield* begin(here, secret)
  expect(status).toBe(200)
  return yield* answerOf(here, provider, JSON.parse(body).location, plan)
})

const roleOf = Effect.fnUntraced(function* (here: Installation, workspaceId: Parameters<typeof joinWorkspace>[1]) {
  const subject = (yield* here.whoAmI) ?? ""
  return Option.getOrUndefined(yield* (yield* Memberships).role(subject, workspaceId))
})

describe("Upstream invitations", () => {
  it.live("an upstream invitation creates an account and a membership, and never puts its secret in a URL", () =>
    Effect.gen(function* () {
      const { here, olga, provider, workspaceId } = yield* world
      const users = yield* Users
      const secret = yield* invite({ workspaceId, acting: { subject: olga } })
      const started = yield* begin(here, secret)
      expect(started.body).not.toContain(secret)
      expect(started.headers.get("cache-control")).toBe("no-store")
      const done = yield* answerOf(here, provider, JSON.parse(started.body).location)
      expect([done.status, done.location]).toEqual([303, `${origin}/`])
      const user = Option.getOrThrow(yield* users.findByEmail("ann@example.com"))
      expect(yield* here.whoAmI).toBe(user.subject)
      expect(yield* roleOf(here, workspaceId)).toBe("member")
      const elsewhere = yield* installation(provider.issuer)
      expect((yield* begin(elsewhere, secret)).status).toBe(404)
    }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live("an upstream invitation can be used only once, by the first of two people who opened it", () =>
    Effect.gen(function* () {
      const { here, olga, provider, workspaceId } = yield* world
      const secret = yield* invite({ workspaceId, acting: { subject: olga } })
      const second = yield* installation(provider.issuer)
      const late = JSON.parse((yield* begin(second, secret)).body).location
      expect((yield* joinBy(here, provider, secret)).status).toBe(303)
      const refused = yield* answerOf(second, provider, late, { claims: { sub: "bob", email: "bob@example.com" } })
      expect([refused.status, yield* second.whoAmI]).toEqual([404, undefined])
      expect(refused.body).toContain("/join")
      expect(Option.isNone(yield* (yield* Users).findByEmail("bob@example.com"))).toBe(true)
    }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live("an upstream invitation for an address requires the provider to have verified that address", () =>
    Effect.gen(function* () {
      const { here, olga, provider, workspaceId } = yield* world
      const secret = yield* invite(
        { workspaceId, acting: { subject: olga } },
        { email: "ann@example.com", role: "admin" }
      )
      const others: ReadonlyArray<TokenPlan> = [
        { claims: { email: "eve@example.com" } },
        { claims: { email_verified: false } },
        { claims: { email: undefined } }
      ]
      for (const plan of others) {
        const refused = yield* joinBy(here, provider, secret, plan)
        expect([refused.status, yield* here.whoAmI]).toEqual([403, undefined])
      }
      expect((yield* joinBy(here, provider, secret, { claims: { email: "Ann@Example.com" } })).status).toBe(303)
      expect(yield* roleOf(here, workspaceId)).toBe("admin")
    }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live("an upstream invitation fails if the inviter has lost the permission to invite", () =>
    Effect.gen(function* () {
      const { here, olga, provider, workspaceId } = yield* world
      const adam = yield* newPerson("adam")
      yield* joinWorkspace(olga, workspaceId, adam.subject, "admin")
      const secret = yield* invite({ workspaceId, acting: { subject: adam.subject } })
      const { location } = JSON.parse((yield* begin(here, secret)).body)
      yield* (yield* Members).update(as(olga), { workspaceId, acting: { subject: olga } }, adam.subject, {
        role: "member"
      })
      const refused = yield* answerOf(here, provider, location)
      expect([refused.status, yield* here.whoAmI]).toEqual([409, undefined])
      expect(Option.isNone(yield* (yield* Users).findByEmail("ann@example.com"))).toBe(true)
    }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live("an address verified by the operator stays verified, whatever the provider claims", () =>
    Effect.gen(function* () {
      const { here, provider } = yield* world
      const secret = yield* invite({ acting: "operator" }, { email: "eve@example.com" })
      expect((yield* joinBy(here, provider, secret, { claims: { email: "other@example.com" } })).status).toBe(303)
      const user = Option.getOrThrow(yield* (yield* Users).findByEmail("eve@example.com"))
      expect([yield* here.whoAmI, user.emailProof]).toEqual([user.subject, "operator"])
    }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live(
    "following an upstream invitation signs in an existing user, who can then accept or decline it on the page",
    () =>
      Effect.gen(function* () {
        const { here, olga, provider, workspaceId } = yield* world
        const ann = yield* verifiedPerson("ann")
        const secret = yield* invite({ workspaceId, acting: { subject: olga } })
        const done = yield* joinBy(here, provider, secret)
        expect([done.location, yield* here.whoAmI]).toEqual([`${origin}/join`, ann.subject])
        expect(yield* roleOf(here, workspaceId)).toBeUndefined()
        const invitations = yield* Invitations
        expect((yield* invitations.decline(as(ann.subject), Redacted.make(secret))).status).toBe("declined")
      }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live("an upstream invitation starts only from svc's own pages, with a valid secret", () =>
    Effect.gen(function* () {
      const { here, olga, workspaceId } = yield* world
      const secret = yield* invite({ workspaceId, acting: { subject: olga } })
      const foreign = { ...ours, "sec-fetch-site": "cross-site" }
      expect((yield* begin(here, secret, foreign)).status).toBe(403)
      expect((yield* begin(here, `${secret}x`)).status).toBe(404)
      const subject = (yield* newPerson("bob")).subject
      const named = yield* invite({ workspaceId, acting: { subject: olga } }, { subject })
      const acceptance = yield* InvitationAcceptance
      const { id } = yield* acceptance.pending(Redacted.make(named))
      const addressed = yield* invite({ workspaceId, acting: { subject: olga } }, { email: "ann@example.com" })
      const other = yield* acceptance.pending(Redacted.make(addressed))
      expect((yield* Effect.flip(acceptance.forProvider(other, "eve@example.com"))).code).toBe("permission_denied")
      // The provider's identity is linked to another account, so the person who signs in with that identity cannot accept
      // the invitation.
      expect((yield* Effect.flip(acceptance.forProvider({ id, proof: null }, "bob@example.com"))).code).toBe(
        "permission_denied"
      )
    }).pipe(Effect.provide(upstreamAccounts))
  )
})
