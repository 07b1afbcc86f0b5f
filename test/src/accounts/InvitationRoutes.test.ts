import { expect } from "bun:test"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MailSettings } from "../../../actors/base/mail/MailSettings.ts"
import { newPerson, newWorkspace } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, call, fromPage, openSession } from "./support/AccountServer.ts"

const mailing = Layer.succeed(MailSettings, {
  origin: { baseUrl: "http://127.0.0.1:8787", name: "svc", language: "en" as const }
})
const fresh = Effect.provide(Layer.fresh(AccountServer.layer))

const Issued = Schema.Struct({ link: Schema.String, invitation: Schema.Struct({ id: Schema.String }) })

/** Creates a Workspace, and functions that send requests as the owner's browser would. */
const setting = Effect.gen(function* () {
  const owner = yield* newPerson("owner")
  const { id } = yield* newWorkspace(owner.subject, { handle: "acme", displayName: "Acme" })
  const headers = fromPage((yield* openSession(owner.subject)).secret)
  const path = `/api/v1/workspaces/${id}`
  const invite = Effect.fnUntraced(function* (body: Schema.Json) {
    const answer = yield* call(`${path}/invitations`, { body, headers })
    const { invitation, link } = yield* Schema.decodeUnknownEffect(Issued)(answer.json)
    return { id: invitation.id, link, secret: new URL(link).hash.slice(1) }
  })
  return { id, path, headers, invite }
})

const signUp = "/auth/invitations/sign-up"
const password = "a password of somebody new"

it.effect(
  "a person can preview an invitation and sign up with its link, which creates an account, a membership and a session",
  () =>
    Effect.gen(function* () {
      const { id, invite } = yield* setting
      const { link, secret } = yield* invite({ role: "viewer" })
      expect(link).toBe(`http://127.0.0.1:8787/join#${secret}`)
      const preview = yield* call("/api/v1/invitations/inspect", { body: { secret } })
      expect(preview).toMatchObject({
        status: 200,
        json: { invitation: { workspace: { handle: "acme", displayName: "Acme" }, role: "viewer", signUp: true } }
      })
      const body = { secret, password, email: "eve@example.com", displayName: "Eve" }
      const foreign = yield* call(signUp, { body, headers: { "sec-fetch-site": "cross-site" } })
      expect(foreign).toMatchObject({ status: 403, json: { error: { code: "csrf_failed" } } })
      const joined = yield* call(signUp, { body })
      expect([joined.status, joined.headers.get("cache-control")]).toEqual([201, "no-store"])
      const cookie = joined.headers.getSetCookie().find((line) => line.startsWith("svc_session=")) ?? ""
      const own = { cookie: cookie.split(";")[0] ?? "", "sec-fetch-site": "same-origin" }
      expect((yield* call(`/api/v1/workspaces/${id}`, { headers: own })).json).toMatchObject({
        workspace: { role: "viewer" }
      })
      // Repeating the request as the same person changes nothing. The link gives other people no access.
      const again = yield* call("/api/v1/invitations/accept", { body: { secret }, headers: own })
      expect(again).toMatchObject({ status: 200, json: { invitation: { status: "accepted" } } })
      expect((yield* call("/api/v1/invitations/inspect", { body: { secret } })).status).toBe(404)
      expect((yield* call(signUp, { body: { ...body, email: "fay@example.com" } })).status).toBe(404)
      expect(again.raw + preview.raw + joined.raw).not.toContain(secret)
    }).pipe(fresh)
)

it.effect("no response to the inviter reveals whether the address has an account", () =>
  Effect.gen(function* () {
    const { headers, path } = yield* setting
    yield* newPerson("known")
    for (const route of ["members", "invitations"]) {
      const [known, unknown] = yield* Effect.forEach(["known", "stray"], (name) =>
        call(`${path}/${route}`, { body: { email: `${name}@example.com`, role: "member" }, headers })
      )
      const shape = (raw: string | undefined) =>
        raw?.replace(/(?:usr_|inv_|svci_)\w+/g, "id").replace(/known|stray/g, "name")
      expect([known?.status, shape(known?.raw)]).toEqual([201, shape(unknown?.raw)])
      expect(unknown?.status).toBe(201)
    }
  }).pipe(fresh)
)

it.effect("an invitation link returns 404 once the invitation has been withdrawn or declined", () =>
  Effect.gen(function* () {
    const { headers, invite, path } = yield* setting
    const eve = fromPage((yield* openSession((yield* newPerson("eve")).subject)).secret)
    const withdrawn = yield* invite({ role: "member" })
    const declined = yield* invite({ role: "member" })
    const revoked = yield* call(`${path}/invitations/${withdrawn.id}/revoke`, { body: {}, headers })
    expect(revoked).toMatchObject({ status: 200, json: { invitation: { status: "revoked" } } })
    const answer = yield* call("/api/v1/invitations/decline", { body: { secret: declined.secret } })
    expect(answer).toMatchObject({ status: 200, json: { invitation: { status: "declined" } } })
    for (const { secret } of [withdrawn, declined]) {
      expect((yield* call("/api/v1/invitations/accept", { body: { secret }, headers: eve })).status).toBe(404)
      expect((yield* call("/api/v1/invitations/decline", { body: { secret } })).status).toBe(404)
    }
  }).pipe(fresh)
)

it.effect("a person, Workspace or server that sends too many emails gets 429 with the time to wait", () =>
  Effect.gen(function* () {
    const { headers, id, path } = yield* setting
    const sql = yield* SqlClient.SqlClient
    const { subject } = yield* newPerson("olga")
    const limits = [
      { most: 30, sender: "own", workspace: null, whose: "You have" },
      { most: 100, sender: subject, workspace: id, whose: "The people of this Workspace have" },
      { most: 300, sender: subject, workspace: null, whose: "The people of this server have" }
    ]
    const [own] = yield* sql`SELECT subject FROM memberships WHERE workspace_id = ${id}`
    for (const { most, sender, whose, workspace } of limits) {
      yield* sql`DELETE FROM mails`
      yield* sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${most})
        INSERT INTO mails (id, recipient, sender, workspace_id, kind, attempts, next_at, expires_at, created_at)
        SELECT 'mail_' || i, 'x' || i || '@example.com', ${sender === "own" ? String(own?.["subject"]) : sender}, ${workspace},
          'invitation', 0, '1970-01-01T00:00:00.000Z', '1970-01-02T00:00:00.000Z', '1970-01-01T00:00:00.000Z' FROM n`
      for (const route of ["invitations", "members"]) {
        const answer = yield* call(`${path}/${route}`, { body: { email: "eve@example.com", role: "viewer" }, headers })
        expect(answer).toMatchObject({ status: 429, json: { error: { code: "rate_limited" } } })
        expect(answer.raw).toContain(whose)
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(3000)
      }
      // If the invitation has no address, the inviter passes on the link and svc sends no email.
      const link = yield* call(`${path}/invitations`, { body: { role: "viewer" }, headers })
      expect(link.status).toBe(201)
    }
    expect(yield* sql`SELECT id FROM invitations WHERE email IS NOT NULL`).toEqual([])
  }).pipe(Effect.provide(Layer.fresh(AccountServer.layer).pipe(Layer.provide(mailing))))
)

it.effect("attempts to guess invitation secrets are limited, signed in or not", () =>
  Effect.gen(function* () {
    const eve = fromPage((yield* openSession((yield* newPerson("eve")).subject)).secret)
    const secret = "svci_nothing"
    for (const [path, headers] of [
      ["/api/v1/invitations/accept", eve],
      ["/api/v1/invitations/inspect", {}]
    ] as const) {
      const statuses = yield* Effect.forEach(Array.from({ length: 21 }), () =>
        call(path, { body: { secret }, headers })
      )
      expect(statuses.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 404), 429])
    }
  }).pipe(fresh)
)
