import { describe, expect } from "bun:test"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import type { ProvisioningRule } from "../../../actors/access/member/ProvisioningRules.ts"
import { Members } from "../../../actors/access/member/Members.ts"
import { Memberships } from "../../../actors/ledger/workspace/Memberships.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { as, joinWorkspace, newPerson, newWorkspace } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import {
  installation,
  origin,
  policy,
  signIn,
  upstreamAccounts,
  verifiedPerson
} from "./support/UpstreamInstallation.ts"
import { pliantProvider } from "./support/UpstreamIssuer.ts"

/** Puts provisioning rules into force until the Scope closes. */
const rules = (inForce: ReadonlyArray<ProvisioningRule>) =>
  Effect.acquireRelease(
    Effect.sync(() => void (policy.rules = inForce)),
    () => Effect.sync(() => void (policy.rules = undefined))
  )

const roleIn = Effect.fnUntraced(function* (workspaceId: WorkspaceId, subject: string) {
  return Option.getOrUndefined(yield* (yield* Memberships).role(subject, workspaceId))
})

const subjectOf = Effect.fnUntraced(function* (email: string) {
  return Option.getOrThrow(yield* (yield* Users).findByEmail(email)).subject
})

const world = Effect.gen(function* () {
  const olga = yield* newPerson("olga")
  const { id } = yield* newWorkspace(olga.subject, { handle: "acme" })
  const provider = yield* pliantProvider
  return { olga: olga.subject, workspaceId: id, provider, here: yield* installation(provider.issuer) }
})

describe("Unknown identities", () => {
  it.live("an unknown identity gets an account only if a rule matches, and receives the role from that rule", () =>
    Effect.gen(function* () {
      const { here, provider, workspaceId } = yield* world
      const sql = yield* SqlClient.SqlClient
      const refused = yield* signIn(here, provider)
      expect([refused.status, yield* here.whoAmI]).toEqual([403, undefined])
      yield* rules([{ emailDomains: ["example.com"], workspaces: [{ workspaceId, role: "member" }] }])
      const plan = { claims: { name: "Ann Example" } }
      expect((yield* signIn(here, provider, plan)).location).toBe(`${origin}/w/acme`)
      const subject = yield* subjectOf("ann@example.com")
      expect(yield* here.whoAmI).toBe(subject)
      expect(yield* roleIn(workspaceId, subject)).toBe("member")
      const [user] = yield* sql`SELECT display_name, email_proof, is_operator FROM users WHERE subject = ${subject}`
      // Whether the provider has verified the address is stored with the identity.
      expect(user).toEqual({ display_name: "Ann Example", email_proof: null, is_operator: 0 })
      const events = yield* sql`SELECT action, actor_kind FROM audit_events
        WHERE workspace_id = ${workspaceId} AND target_id = ${subject}`
      expect(events).toEqual([{ action: "member.provision", actor_kind: "service" }])
      // A second sign-in uses the same account and changes nothing.
      expect((yield* signIn(here, provider, plan)).status).toBe(303)
      expect(yield* here.whoAmI).toBe(subject)
      expect(yield* sql`SELECT action FROM audit_events WHERE action = 'member.provision'`).toHaveLength(1)
    }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live("an unknown identity gets no account by domain if its address is unverified or already taken", () =>
    Effect.gen(function* () {
      const { here, provider } = yield* world
      yield* rules([{ emailDomains: ["example.com"] }])
      for (const email_verified of [false, "true", undefined]) {
        expect((yield* signIn(here, provider, { claims: { email_verified } })).status).toBe(403)
      }
      // The account claimed this address at sign-up without verifying it, so svc does not link the provider's identity to the
      // account.
      const squatter = yield* newPerson("ann")
      const refused = yield* signIn(here, provider)
      expect([refused.status, yield* here.whoAmI]).toEqual([403, undefined])
      expect(refused.body).toContain("the account has not verified this address. The account was not opened.")
      yield* (yield* Users).setStatus(serviceContext, squatter.subject, "disabled")
      expect((yield* signIn(here, provider)).body).toContain("is locked")
    }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live("an unknown identity does not become the first account, which operates the installation", () =>
    Effect.gen(function* () {
      const provider = yield* pliantProvider
      const here = yield* installation(provider.issuer)
      yield* rules([{ emailDomains: ["example.com"] }])
      expect((yield* signIn(here, provider)).status).toBe(409)
      expect(yield* (yield* Users).exist).toBe(false)
    }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live("if any part of creating an account fails, svc refuses the unknown identity and leaves no account", () =>
    Effect.gen(function* () {
      const { here, provider } = yield* world
      const sql = yield* SqlClient.SqlClient
      yield* rules([{ groups: ["platform"] }])
      const claims = { groups: ["platform"], email: undefined, email_verified: undefined }
      const refused = yield* signIn(here, provider, { claims })
      expect(refused.status).toBe(403)
      expect(refused.body).toContain("gave no e-mail address")
      expect(yield* sql`SELECT 1 FROM users`).toHaveLength(1)
    }).pipe(Effect.provide(upstreamAccounts))
  )
})

describe("Provisioned roles", () => {
  it.live(
    "a role from a rule follows the groups: it is revoked when the claim disappears, and restored when the claim returns",
    () =>
      Effect.gen(function* () {
        const { here, provider, workspaceId } = yield* world
        yield* rules([
          { groups: ["staff"], workspaces: [{ workspaceId, role: "viewer" }] },
          { groups: ["platform"], workspaces: [{ workspaceId, role: "admin" }] }
        ])
        const steps: ReadonlyArray<readonly [groups: unknown, role: string | undefined]> = [
          [["staff"], "viewer"],
          [["staff", "platform"], "admin"],
          [["staff"], "viewer"],
          [["platform"], "admin"],
          [undefined, undefined],
          [["platform"], "admin"],
          // A groups claim grants a role only if it is a list; a string or an object grants no role.
          ["platform", undefined],
          [["staff"], "viewer"],
          [{ platform: true }, undefined]
        ]
        for (const [groups, role] of steps) {
          expect((yield* signIn(here, provider, { claims: { groups } })).status).toBe(303)
          expect([groups, yield* roleIn(workspaceId, yield* subjectOf("ann@example.com"))]).toEqual([groups, role])
        }
      }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live("a role from a rule is not revoked for the last owner until there is another owner", () =>
    Effect.gen(function* () {
      const { here, olga, provider, workspaceId } = yield* world
      const members = yield* Members
      yield* rules([{ groups: ["founders"], workspaces: [{ workspaceId, role: "owner" }] }])
      yield* signIn(here, provider, { claims: { groups: ["founders"] } })
      const ann = yield* subjectOf("ann@example.com")
      yield* members.update(as(ann), { workspaceId, acting: { subject: ann } }, olga, { role: "admin" })
      expect((yield* signIn(here, provider, { claims: { groups: [] } })).status).toBe(303)
      expect(yield* roleIn(workspaceId, ann)).toBe("owner")
      yield* members.update(as(ann), { workspaceId, acting: { subject: ann } }, olga, { role: "owner" })
      expect((yield* signIn(here, provider, { claims: { groups: [] } })).status).toBe(303)
      expect(yield* roleIn(workspaceId, ann)).toBeUndefined()
    }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live("rules neither change roles assigned by people nor reinstate members who left or were suspended", () =>
    Effect.gen(function* () {
      const { here, olga, provider, workspaceId } = yield* world
      const members = yield* Members
      const ann = yield* verifiedPerson("ann")
      yield* joinWorkspace(olga, workspaceId, ann.subject, "viewer")
      yield* rules([{ groups: ["platform"], workspaces: [{ workspaceId, role: "admin" }] }])
      yield* signIn(here, provider, { claims: { groups: ["platform"] } })
      expect(yield* roleIn(workspaceId, ann.subject)).toBe("viewer")
      yield* signIn(here, provider, { claims: { groups: [] } })
      expect(yield* roleIn(workspaceId, ann.subject)).toBe("viewer")
      const scope = { workspaceId, acting: { subject: ann.subject } }
      yield* members.remove(as(ann.subject), scope, ann.subject)
      yield* signIn(here, provider, { claims: { groups: ["platform"] } })
      expect(yield* roleIn(workspaceId, ann.subject)).toBeUndefined()
    }).pipe(Effect.provide(upstreamAccounts))
  )

  it.live(
    "a role comes from UserInfo if the ID token has no groups, and stays unchanged if UserInfo cannot be read",
    () =>
      Effect.gen(function* () {
        const { provider, workspaceId } = yield* world
        provider.state.publishesUserInfo = true
        const here = yield* installation(provider.issuer)
        yield* rules([{ groups: ["platform"], workspaces: [{ workspaceId, role: "admin" }] }])
        expect((yield* signIn(here, provider, { userInfo: { groups: ["platform"] } })).status).toBe(303)
        const ann = yield* subjectOf("ann@example.com")
        expect(yield* roleIn(workspaceId, ann)).toBe("admin")
        expect((yield* signIn(here, provider)).status).toBe(503)
        expect(yield* roleIn(workspaceId, ann)).toBe("admin")
        // UserInfo for a different subject is ignored.
        expect((yield* signIn(here, provider, { userInfo: { sub: "eve", groups: ["platform"] } })).status).toBe(503)
      }).pipe(Effect.provide(upstreamAccounts))
  )
})

describe("Single-tenant providers", () => {
  it.live("a single-tenant provider identifies people by their subjects, never by an address", () =>
    Effect.gen(function* () {
      const { provider, workspaceId } = yield* world
      const ann = yield* verifiedPerson("ann")
      const here = yield* installation(provider.issuer, { trust: "single_tenant" })
      // Addresses from a single-tenant provider never identify a person, even if verified.
      for (const email_verified of [true, undefined]) {
        expect((yield* signIn(here, provider, { claims: { email_verified } })).status).toBe(403)
        expect(yield* here.whoAmI).toBeUndefined()
      }
      yield* rules([{ everybody: true, workspaces: [{ workspaceId, role: "viewer" }] }])
      const taken = yield* signIn(here, provider)
      expect([taken.status, yield* here.whoAmI]).toEqual([409, undefined])
      const claims = { sub: "eve-7", email: "eve@example.com", email_verified: undefined }
      expect((yield* signIn(here, provider, { claims })).status).toBe(303)
      const eve = yield* subjectOf("eve@example.com")
      expect(yield* here.whoAmI).toBe(eve)
      expect(yield* roleIn(workspaceId, eve)).toBe("viewer")
      // A known identity with a new address is the same person. A new identity with a known address is a different person.
      expect((yield* signIn(here, provider, { claims: { ...claims, email: "ann@example.com" } })).status).toBe(303)
      expect(yield* here.whoAmI).toBe(eve)
      const elsewhere = yield* installation(provider.issuer, { trust: "single_tenant" })
      expect((yield* signIn(elsewhere, provider, { claims: { ...claims, sub: "mallory" } })).status).toBe(409)
      expect(yield* elsewhere.whoAmI).toBeUndefined()
      expect(ann.subject).not.toBe(eve)
    }).pipe(Effect.provide(upstreamAccounts))
  )
})
