import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { NoticeMailing } from "../../../../actors/access/notice/NoticeMailing.ts"
import { RowChecks } from "../../../../actors/base/database/Table.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { NoticeMailChoices } from "../../../../actors/base/notice/NoticeMailChoices.ts"
import { NoticeSettings } from "../../../../actors/base/notice/NoticeRows.ts"
import { writeNotice } from "../../../../actors/base/notice/Notices.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { eraseAccount } from "../../../../actors/access/account/ErasedAccount.ts"
import { ApprovalRuleId, CapsuleId, ProjectId, RunId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import type { NoticeKind } from "../../../../schema/records/NoticeEndpoint.ts"
import type { Role } from "../../../../schema/records/Workspace.ts"
import { as, newPerson } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { deliver, layer as mailLayer, post } from "../../base/mail/support/Post.ts"
import { add, emptyWorld, living, named, workspaceId } from "../../upkeep/retention/support/RetainedWorld.ts"

const layer = Layer.mergeAll(NoticeMailing.layer, NoticeMailChoices.layer).pipe(
  Layer.provide(Layer.succeed(NoticeSettings, { baseUrl: "https://svc.example.com", allowOrigins: [] })),
  Layer.provideMerge(mailLayer)
)

const capsule = {
  id: CapsuleId.make(living),
  name: 'shop" https://evil.example',
  environment: "production",
  projectId: ProjectId.make(`prj_${"a".repeat(24)}`)
}
const runId = RunId.make(named("run", "plan"))
const workspace = WorkspaceId.make(workspaceId)

/** A member who subscribed to these kinds of notices. */
const person = Effect.fnUntraced(function* (name: string, role: Role, kinds: ReadonlyArray<NoticeKind>) {
  const sql = yield* SqlClient.SqlClient
  const { subject } = yield* newPerson(name)
  yield* (yield* Users).proveAddress(subject, `${name}@example.com`, "mail")
  yield* add("memberships", { id: named("mbr", name), subject, role, status: "active" })
  yield* (yield* NoticeMailChoices).choose(as(subject), subject, kinds)
  yield* sql`UPDATE users SET status = 'active' WHERE subject = ${subject}`
  return subject
})

const emptyMailbox = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* emptyWorld
  yield* sql`DELETE FROM notice_mail_kinds`
  yield* sql`DELETE FROM memberships`
}).pipe(Effect.orDie)

const about = { workspaceId: workspace, subject: { kind: "capsule" as const, id: living }, path: "runs/x", capsule }
const runOf = (startedBy?: string) => ({
  id: runId,
  type: "plan" as const,
  trigger: "user" as const,
  ...(startedBy === undefined ? {} : { startedBy })
})

const failed = (startedBy?: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    transaction(sql)(
      writeNotice(
        sql,
        "run.failed",
        Effect.succeed({ ...about, data: { capsule, run: runOf(startedBy), code: "apply_failed" } })
      )
    )
  )

const mailDue = Effect.flatMap(NoticeMailing, (mailing) => mailing.mailDue)

const sentTo = Effect.gen(function* () {
  yield* mailDue
  yield* deliver
  const to = post.sent.map((mail) => mail.to.split("@")[0]).toSorted()
  post.sent.length = 0
  return to
})

describe("Notice mails", () => {
  it.effect("a notice is mailed to the person who started the Run, or to owners and admins if nobody did", () =>
    Effect.gen(function* () {
      yield* emptyMailbox
      const ann = yield* person("ann", "member", ["run.failed"])
      yield* person("olga", "owner", ["run.failed", "rule.changed"])
      yield* person("adam", "admin", ["run.failed", "rule.changed"])
      yield* person("quiet", "owner", ["drift.found"])
      yield* failed(ann)
      expect(yield* sentTo).toEqual(["ann"])
      yield* failed()
      expect(yield* sentTo).toEqual(["adam", "olga"])
      const sql = yield* SqlClient.SqlClient
      yield* transaction(sql)(
        writeNotice(
          sql,
          "rule.changed",
          Effect.succeed({
            workspaceId: workspace,
            subject: { kind: "rule" as const, id: "apr" },
            path: "approvals",
            data: { ruleId: ApprovalRuleId.make(named("apr", "x")), change: "updated" as const }
          })
        )
      )
      expect(yield* sentTo).toEqual(["olga"])
    }).pipe(Effect.provide(Layer.fresh(layer)))
  )

  it.effect("a notice that cannot be read does not delay the mails of later notices, and is tried again", () =>
    Effect.gen(function* () {
      yield* emptyMailbox
      const sql = yield* SqlClient.SqlClient
      const ann = yield* person("ann", "member", ["run.failed"])
      yield* failed(ann)
      yield* sql`UPDATE notices SET data = '{' WHERE mail_due IS NOT NULL`
      yield* failed(ann)
      expect(yield* sentTo).toEqual(["ann"])
      yield* sql`UPDATE notices SET data = '{}' WHERE mail_due IS NOT NULL`
      expect(yield* sentTo).toEqual([])
      yield* TestClock.adjust("1 second")
      yield* mailDue
      expect(yield* sql`SELECT 1 AS one FROM notices WHERE mail_due IS NOT NULL`).toEqual([])
    }).pipe(Effect.provideService(RowChecks, false), Effect.provide(Layer.fresh(layer)))
  )

  it.effect(
    "a notice about a plan is mailed only to people whose approval counts, and therefore not to the author of the plan if an approval rule applies",
    () =>
      Effect.gen(function* () {
        yield* emptyMailbox
        const sql = yield* SqlClient.SqlClient
        const kinds = ["run.waiting_approval"] as const
        const adam = yield* person("adam", "admin", kinds)
        yield* person("olga", "owner", kinds)
        yield* person("mia", "member", kinds)
        yield* add("runs", {
          id: runId,
          type: "plan",
          status: "waiting_approval",
          capsule_id: living,
          plan_run_id: null,
          created_by: adam
        })
        yield* add("plan_authors", { run_id: runId, subject: adam, part: "starter" })
        const waiting = transaction(sql)(
          writeNotice(
            sql,
            "run.waiting_approval",
            Effect.succeed({ ...about, data: { capsule, run: runOf(adam), waitsFor: [] } })
          )
        )
        yield* waiting
        expect(yield* sentTo).toEqual(["adam", "olga"])
        yield* add("approval_rules", { id: named("apr", "rule"), team_id: null, environment: null, approvers: 1 })
        yield* waiting
        expect(yield* sentTo).toEqual(["olga"])
      }).pipe(Effect.provide(Layer.fresh(layer)))
  )

  it.effect(
    "a notice mail contains only text from the server, and quotes names so that mail programs do not turn them into links",
    () =>
      Effect.gen(function* () {
        yield* emptyMailbox
        yield* person("olga", "owner", ["run.failed"])
        yield* failed()
        yield* mailDue
        yield* deliver
        const [mail] = post.sent
        expect(mail?.subject).toBe(`Acme svc: A Run failed: "shop' https[:]//evil[.]example"`)
        expect(mail?.text).toContain("https://svc.example.com/w/")
        expect(mail?.text).toContain("https://svc.example.com/account")
        expect(mail?.text).not.toContain("https://evil")
      }).pipe(Effect.provide(Layer.fresh(layer)))
  )

  it.effect("a notice queues one mail per person, and no mail if nobody has subscribed to that kind of notice", () =>
    Effect.gen(function* () {
      yield* emptyMailbox
      const sql = yield* SqlClient.SqlClient
      const olga = yield* person("olga", "owner", ["run.failed"])
      yield* failed()
      yield* mailDue
      yield* mailDue
      expect(yield* sql`SELECT id FROM mails`).toHaveLength(1)
      yield* (yield* NoticeMailChoices).choose(as(olga), olga, [])
      yield* failed()
      expect(yield* sql`SELECT id FROM notices`).toHaveLength(1)
    }).pipe(Effect.provide(Layer.fresh(layer)))
  )
})

describe("Notice mails to a person who left", () => {
  for (const [how, leave] of [
    [
      "was removed from the Workspace",
      (subject: string) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE memberships
      SET status = 'suspended' WHERE subject = ${subject}`
        )
    ],
    [
      "has a locked account",
      (subject: string) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE users
      SET status = 'disabled' WHERE subject = ${subject}`
        )
    ],
    [
      "has another address",
      (subject: string) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE users
      SET email = 'new@example.com' WHERE subject = ${subject}`
        )
    ],
    ["erased the account", (subject: string) => eraseAccount(subject)]
  ] as const) {
    it.effect(`a person who ${how} gets no notice mails, not even mails queued earlier`, () =>
      Effect.gen(function* () {
        yield* emptyMailbox
        const sql = yield* SqlClient.SqlClient
        const adam = yield* person("adam", "admin", ["run.failed"])
        yield* person("olga", "owner", ["run.failed"])
        yield* failed()
        yield* mailDue
        yield* leave(adam)
        yield* failed()
        yield* mailDue
        yield* deliver
        expect(post.sent.filter(({ to }) => to.startsWith("adam"))).toEqual([])
        expect(post.sent.filter(({ to }) => to.startsWith("olga"))).toHaveLength(2)
        expect(yield* sql`SELECT outcome FROM mails WHERE recipient = 'adam@example.com'`).toEqual([
          { outcome: "left" }
        ])
      }).pipe(Effect.provide(Layer.fresh(layer)))
    )
  }
})
