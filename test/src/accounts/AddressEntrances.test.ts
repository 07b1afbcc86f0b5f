import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { Subject } from "../../../schema/records/Ids.ts"
import { profileClaims } from "../../../src/accounts/upstream/UpstreamClaims.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "../operator/support/Server.ts"

setDefaultTimeout(120_000)

/**
 * The canonical spelling: browsers send this spelling from `<input type=email>`, and svc stores it, compares it and sends
 * email to it.
 */
const stored = "bob@xn--bcher-kva.example"
/** Other spellings of the same address, as typed by people or sent by other programs. */
const spellings = ["bob@bücher.example", "BOB@BU\u0308CHER.Example", " bob@b\u00fccher\u3002example ", stored]
const password = "a long enough password"

const Answer = Schema.Record(Schema.String, Schema.Json)
const Members = Schema.Struct({
  members: Schema.Array(Schema.Struct({ subject: Schema.String, email: Schema.optionalKey(Schema.String) }))
})
const Made = Schema.Struct({ subject: Subject, email: Schema.String })
const Invited = Schema.Struct({ invitation: Schema.Struct({ email: Schema.String }), link: Schema.String })

/**
 * Starts a server, and returns its `svc admin` commands and requests from Olga, who operates the server and owns a
 * Workspace.
 */
const running = Effect.gen(function* () {
  const dataDir = `${yield* folder}/data`
  const { services, url } = yield* serve(dataDir)
  const admin = Effect.fnUntraced(function* (args: ReadonlyArray<string>, stdin = "") {
    const ended = yield* svc(["admin", ...args, "--data-dir", dataDir, "--json"], stdin)
    expect([args, ended.code, ended.error]).toEqual([args, 0, ""])
    return ended.out
  })
  const call = Effect.fnUntraced(function* (path: string, body?: Schema.Json, cookie?: string) {
    const answer = yield* Effect.promise(() =>
      fetch(`${url}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          "content-type": "application/json",
          "sec-fetch-site": "same-origin",
          "idempotency-key": crypto.randomUUID(),
          ...(cookie === undefined ? {} : { cookie })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    )
    const text = yield* Effect.promise(() => answer.text())
    const json = text === "" ? {} : yield* Schema.decodeEffect(Schema.fromJsonString(Answer))(text)
    return { status: answer.status, json, cookies: answer.headers.getSetCookie() }
  })
  const create = Effect.fnUntraced(function* (email: string) {
    const out = yield* admin(["create-user", "--email", email, "--password-stdin"], `${password}\n`)
    return yield* Schema.decodeEffect(Schema.fromJsonString(Made))(out)
  })
  const cookieOf = Effect.fnUntraced(function* (subject: Subject) {
    const { secret } = yield* (yield* Sessions).open({ subject, method: "password" })
    return `svc_session=${Redacted.value(secret)}`
  }, Effect.provide(services))
  const olga = yield* cookieOf((yield* create("olga@example.com")).subject)
  const { workspace } = (yield* call("/api/v1/workspaces", { handle: "acme", displayName: "Acme" }, olga)).json
  const { id: workspaceId } = yield* Schema.decodeUnknownEffect(Schema.Struct({ id: Schema.String }))(workspace)
  const members = Effect.flatMap(call(`/api/v1/workspaces/${workspaceId}/members`, undefined, olga), ({ json }) =>
    Effect.map(Schema.decodeUnknownEffect(Members)(json), (list) => list.members)
  )
  const sql = <A extends object>(statement: string) =>
    Effect.flatMap(SqlClient.SqlClient, (client) => client.unsafe<A>(statement)).pipe(Effect.provide(services))
  const invite = Effect.fnUntraced(function* (path: string, email: string) {
    const { json, status } = yield* call(`/api/v1/workspaces/${workspaceId}/${path}`, { email, role: "member" }, olga)
    expect([path, email, status]).toEqual([path, email, 201])
    return json
  })
  return { admin, call, cookieOf, create, invite, members, olga, sql, workspaceId }
})

/** Removes the test person's account, so that the next spelling starts from scratch. */
const withoutBob = Effect.fnUntraced(function* (world: Effect.Success<typeof running>, spelling: string) {
  yield* world.admin(["users", "delete", "--yes", "--email", spelling])
  expect(yield* world.sql(`SELECT 1 FROM users WHERE email = '${stored}'`)).toEqual([])
})

const secretIn = (link: string) => new URL(link).hash.slice(1)

describe("International addresses", () => {
  live("every operator command treats all spellings of an international address as one address", () =>
    Effect.gen(function* () {
      const world = yield* running
      const { admin, call, create, sql } = world
      for (const [index, typed] of spellings.entries()) {
        // Uses a new person for each spelling, because sign-in attempts are limited per address across all its spellings.
        const local = `bob${index}@`
        const spelling = typed.replace(/bob@/i, local)
        const stored = `${local}xn--bcher-kva.example`
        const bob = yield* create(spelling)
        expect([spelling, bob.email]).toEqual([spelling, stored])
        for (const other of spellings.map((each) => each.replace(/bob@/i, local))) {
          const again = yield* call("/auth/sign-in", { email: other, password })
          expect([other, again.status, again.json["subject"]]).toEqual([other, 200, bob.subject])
        }
        yield* admin(["users", "lock", "--email", spelling])
        expect((yield* call("/auth/sign-in", { email: spelling, password })).status).toBe(401)
        yield* admin(["users", "unlock", "--email", spelling])
        yield* admin(["reset-password", "--email", spelling, "--password-stdin"], `${password} two\n`)
        expect((yield* call("/auth/sign-in", { email: stored, password: `${password} two` })).status).toBe(200)
        const reset = JSON.parse(yield* admin(["reset-password", "--email", spelling])).setupLink
        const redeemed = yield* call("/auth/setup", { secret: secretIn(reset), password: `${password} three` })
        expect([spelling, redeemed.status, redeemed.json["subject"]]).toEqual([spelling, 201, bob.subject])
        expect(
          yield* admin(["create-token", "--subject", spelling.trim(), "--name", "ci", "--scopes", "read"])
        ).toContain("svcp_")
        expect(yield* admin(["operators", "grant", spelling])).toContain(stored)
        expect(yield* admin(["operators", "revoke", spelling])).not.toContain(stored)
        yield* admin(["invite", "--email", spelling])
        yield* admin(["address-link", "--email", "olga@example.com", "--to", `carol+${spelling.trim()}`])
        const kept = yield* sql<{ email: string }>(
          "SELECT email FROM invitations WHERE email IS NOT NULL UNION SELECT email FROM address_changes"
        )
        expect(kept.map(({ email }) => email)).toContain(stored)
        expect(kept.map(({ email }) => email)).toContain(`carol+${stored}`)
        yield* admin(["users", "delete", "--yes", "--email", spelling])
        expect((yield* call("/auth/sign-in", { email: stored, password: `${password} three` })).status).toBe(401)
      }
    })
  )

  live("every page and route treats all spellings of an international address as one address", () =>
    Effect.gen(function* () {
      const world = yield* running
      const { admin, call, cookieOf, create, invite, members, olga, sql, workspaceId } = world
      for (const spelling of spellings) {
        // Invitations store the canonical spelling, and so does the account created from the invitation.
        const made = yield* Schema.decodeUnknownEffect(Invited)(yield* invite("invitations", spelling))
        expect(made.invitation.email).toBe(stored)
        yield* invite("members", spelling)
        const pending = yield* sql(`SELECT DISTINCT email FROM invitations WHERE status = 'pending'`)
        expect(pending).toEqual([{ email: stored }])
        // The operator's invitation needs no email verification, so opening the link is enough to create the account.
        const { invitationLink } = JSON.parse(yield* admin(["invite", "--email", spelling, "--workspace", workspaceId]))
        const signedUp = yield* call("/auth/invitations/sign-up", { secret: secretIn(invitationLink), password })
        expect([spelling, signedUp.status]).toEqual([spelling, 201])
        expect((yield* members).map(({ email }) => email)).toContain(stored)
        // svc rejects an invitation to an existing member in every spelling of the address.
        for (const other of spellings) {
          const again = yield* call(`/api/v1/workspaces/${workspaceId}/members`, { email: other, role: "member" }, olga)
          expect([other, again.status]).toEqual([other, 409])
        }
        yield* withoutBob(world, spelling)

        // A link without an address uses the address that the person types.
        const open = yield* call(`/api/v1/workspaces/${workspaceId}/invitations`, { role: "member" }, olga)
        const { link } = yield* Schema.decodeUnknownEffect(Schema.Struct({ link: Schema.String }))(open.json)
        const joined = yield* call("/auth/invitations/sign-up", { secret: secretIn(link), password, email: spelling })
        expect([spelling, joined.status]).toEqual([spelling, 201])
        expect((yield* members).map(({ email }) => email)).toContain(stored)
        yield* withoutBob(world, spelling)

        // An invitation matches the operator's account in any spelling of the address.
        const fitting = yield* Schema.decodeUnknownEffect(Invited)(yield* invite("invitations", spelling))
        const bob = yield* create(stored)
        const accepted = yield* call(
          "/api/v1/invitations/accept",
          { secret: secretIn(fitting.link) },
          yield* cookieOf(bob.subject)
        )
        expect([spelling, accepted.status]).toEqual([spelling, 200])
        yield* withoutBob(world, spelling)
      }
    })
  )

  live("claims from another provider are matched in all spellings of an international address", () =>
    Effect.sync(() => {
      for (const email of spellings) {
        const claims = profileClaims(
          { email, email_verified: true },
          { groupsClaim: "groups", trust: "email_verified" }
        )
        expect([email, claims.verifiedEmail, claims.claimedEmail]).toEqual([email, stored, stored])
      }
    })
  )
})
