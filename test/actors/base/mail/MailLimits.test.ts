import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AddressChanges } from "../../../../actors/access/account/AddressChanges.ts"
import { Invitations } from "../../../../actors/access/member/Invitations.ts"
import { AccountCommands } from "../../../../src/operator/AccountCommands.ts"
import { as, joinWorkspace, newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { layer } from "./support/Post.ts"

const perHour = { sender: 30, workspace: 100, server: 300 }

const world = Effect.gen(function* () {
  const olga = yield* newPerson("olga")
  const workspace = yield* newWorkspace(olga.subject, { handle: "acme", displayName: "Acme" })
  return { olga: olga.subject, workspaceId: workspace.id }
})

type Where = { readonly workspaceId: Effect.Success<typeof world>["workspaceId"] }

const invite = Effect.fnUntraced(function* (subject: string, { workspaceId }: Where, email: string | undefined) {
  const invitations = yield* Invitations
  return yield* invitations.create(as(subject), { workspaceId, acting: { subject } }, { email, role: "viewer" })
})

/** Inserts emails that a person sent earlier, because sending each email would be slow. */
const sentBefore = Effect.fnUntraced(function* (count: number, sender: string | null, workspaceId: string | null) {
  const sql = yield* SqlClient.SqlClient
  const at = "1970-01-01T00:00:00.000Z"
  yield* sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO mails (id, recipient, sender, workspace_id, kind, attempts, next_at, expires_at, created_at)
    SELECT 'mail_' || ${sender ?? "operator"} || i, 'x' || i || '@example.com', ${sender}, ${workspaceId}, 'invitation', 0,
      ${at}, '1970-01-02T00:00:00.000Z', ${at} FROM n`
})

const written = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.all([
    sql`SELECT id, status FROM invitations ORDER BY id`,
    sql`SELECT id FROM mails ORDER BY id`,
    sql`SELECT COUNT(*) AS events FROM audit_events`
  ])
)

describe("Mail limits", () => {
  it.effect("a sender over the hourly limit gets a retry time, and the request writes nothing", () =>
    Effect.gen(function* () {
      const { olga, ...where } = yield* world
      yield* TestClock.adjust("1 minute")
      for (let n = 0; n < perHour.sender; n++) yield* invite(olga, where, `a${n}@example.com`)
      yield* TestClock.adjust("10 minutes")
      const before = yield* written
      // The address has a pending invitation, which the rejected request must leave intact.
      const refused = yield* Effect.flip(invite(olga, where, "a0@example.com"))
      expect([refused.code, refused.retryAfter]).toEqual(["rate_limited", 50 * 60])
      expect(yield* written).toEqual(before)
      expect((yield* invite(olga, where, undefined)).mailed).toBe(false)
      yield* TestClock.adjust("50 minutes")
      expect((yield* invite(olga, where, "a0@example.com")).mailed).toBe(true)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a Workspace over its hourly limit cannot send emails, but another Workspace can", () =>
    Effect.gen(function* () {
      const { olga, ...where } = yield* world
      const ann = yield* newPerson("ann")
      yield* joinWorkspace(olga, where.workspaceId, ann.subject, "admin")
      const other = yield* newWorkspace(ann.subject, { handle: "other", displayName: "Other" })
      yield* sentBefore(perHour.workspace, olga, where.workspaceId)
      expect(yield* Effect.flip(invite(ann.subject, where, "eve@example.com"))).toMatchObject({
        code: "rate_limited",
        retryAfter: 3600,
        message: expect.stringContaining("this Workspace")
      })
      expect((yield* invite(ann.subject, { workspaceId: other.id }, "eve@example.com")).mailed).toBe(true)
    }).pipe(Effect.provide(layer))
  )

  it.effect("people on a server over its hourly limit cannot send emails, but the operator can", () =>
    Effect.gen(function* () {
      const { olga, ...where } = yield* world
      yield* sentBefore(perHour.server, "usr_others", "ws_others")
      const refused = yield* Effect.flip(invite(olga, where, "eve@example.com"))
      expect([refused.code, refused.message]).toEqual(["rate_limited", expect.stringContaining("this server")])
      const commands = yield* AccountCommands
      expect((yield* commands.invite({ email: "eve@example.com" })).mailed).toBe(true)
    }).pipe(Effect.provide(AccountCommands.layer(undefined).pipe(Layer.provideMerge(layer))))
  )

  it.effect("the operator's emails and notices do not use up the limit on emails that people send", () =>
    Effect.gen(function* () {
      const { olga, ...where } = yield* world
      yield* sentBefore(perHour.server, null, null)
      expect((yield* invite(olga, where, "eve@example.com")).mailed).toBe(true)
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "emails with address-change links count toward the limits, and a rejected email leaves the earlier link valid",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const changes = yield* AddressChanges
        const ann = yield* newPerson("ann")
        for (let n = 0; n < perHour.sender; n++) yield* changes.mail(ann.subject, `a${n}@example.com`)
        const before = yield* sql`SELECT * FROM address_changes`
        expect((yield* Effect.flip(changes.mail(ann.subject, "eve@example.com"))).code).toBe("rate_limited")
        expect(yield* sql`SELECT * FROM address_changes`).toEqual(before)
      }).pipe(Effect.provide(layer))
  )

  it.effect("email limits do not apply on a server without a mail server", () =>
    Effect.gen(function* () {
      const { olga, ...where } = yield* world
      for (let n = 0; n <= perHour.sender; n++) yield* invite(olga, where, `a${n}@example.com`)
    }).pipe(Effect.provide(testAccounts))
  )
})
