import { afterAll, describe, expect } from "bun:test"
import { Effect, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { mailPlace, SealedMail } from "../../../../actors/base/mail/Mails.ts"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { mostComments, RunComments } from "../../../../actors/commands/run/RunComments.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { RunCommentId, Subject } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { applying, freshKey, planned, settled } from "../../../support/Journey.ts"
import { newMember, newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { padded } from "../../../support/Dialect.ts"

const mail = { smtpUrl: "smtp://127.0.0.1:25", smtpFrom: "svc@example.test", baseUrl: "https://svc.example.test" }
const tests = suite(testPlane({ runner: pureRunner(pureModules()), settings: mail }))
afterAll(tests.dispose)

const subjectOf = ({ actor }: { readonly actor: { readonly subject?: string } }) => Subject.make(actor.subject ?? "")
const listed = Effect.fnUntraced(function* (...[id, page]: Parameters<RunComments["Service"]["list"]>) {
  return yield* (yield* RunComments).list(id, page)
})

const decodeMail = Schema.decodeUnknownEffect(SealedMail)

/** Emails queued for this person. */
const mailsTo = Effect.fnUntraced(function* (subject: Subject) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const rows = yield* sql<{ id: string; content: string }>`SELECT m.id, m.content FROM mails m
    JOIN users u ON u.email = m.recipient WHERE u.subject = ${subject} AND m.kind = 'mention' ORDER BY m.id`
  return yield* Effect.forEach(rows, ({ content, id }) =>
    Effect.flatMap(vault.openText(mailPlace(id), content), (text) => decodeMail(Redacted.value(text)))
  )
})

describe("Run comments", () => {
  tests.live(
    "comments on a Run are listed in pages, oldest first, and a repeated request writes only one comment",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const runs = yield* RunCommands
        const { plan } = yield* planned("listed", pureModule)
        const idempotency = freshKey()
        const first = yield* runs.Comment(plan.id, { context, text: "One\nline", idempotency })
        const again = yield* runs.Comment(plan.id, { context, text: "One\nline", idempotency })
        expect([first.replayed, again.replayed, again.value]).toEqual([false, true, first.value])
        const other = { ...idempotency, requestDigest: "other" }
        expect(yield* Effect.flip(runs.Comment(plan.id, { context, text: "Two", idempotency: other }))).toMatchObject({
          code: "idempotency_conflict"
        })
        yield* runs.Comment(plan.id, { context, text: "Two" })
        const page = yield* listed(plan.id, { limit: 1, subject: context.actor.subject })
        expect(page.items).toEqual([first.value])
        const rest = yield* listed(plan.id, { limit: 1, subject: context.actor.subject, cursor: page.nextCursor })
        expect(rest.items.map(({ text }) => text)).toEqual(["Two"])
        expect(rest.nextCursor).toBeUndefined()
        const { plan: another } = yield* planned("other-list", pureModule)
        expect(
          yield* Effect.flip(listed(another.id, { limit: 1, subject: context.actor.subject, cursor: page.nextCursor }))
        ).toMatchObject({ code: "invalid_request" })
      })
  )

  tests.live(
    "comments on a Run mask a secret input, even if the comment contains it in encoded form or the plan file no longer exists",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const runs = yield* RunCommands
        const secret = "correct-horse-battery"
        const { plan } = yield* planned("masked", pureModule, { variables: { key: secret } })
        const { value: waiting } = yield* runs.Comment(plan.id, { context, text: `key is ${secret}!` })
        expect(waiting.text).toBe("key is [redacted key]!")
        const apply = yield* applying(plan)
        yield* settled(apply.id)
        const encoded = Buffer.from(secret).toString("base64")
        const { value: after } = yield* runs.Comment(apply.id, { context, text: `was ${encoded}` })
        expect(after.text).not.toContain(encoded)
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ text: string }>`SELECT text FROM run_comments`
        expect(rows.filter(({ text }) => text?.includes(secret) || text?.includes(encoded))).toEqual([])
      })
  )

  tests.live("only the author can remove a comment on a Run, which erases its text", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const runs = yield* RunCommands
      const { plan } = yield* planned("removed", pureModule)
      const member = yield* newMember(workspaceId, context, "member")
      const { value } = yield* runs.Comment(plan.id, { context: member, text: "A rash remark" })
      expect(yield* Effect.flip(runs.RemoveComment(plan.id, { context, commentId: value.id }))).toMatchObject({
        code: "permission_denied"
      })
      const removed = yield* runs.RemoveComment(plan.id, { context: member, commentId: value.id })
      expect(removed).toEqual({
        id: value.id,
        runId: plan.id,
        author: subjectOf(member),
        createdAt: value.createdAt,
        removedAt: removed.removedAt ?? ""
      })
      expect(yield* runs.RemoveComment(plan.id, { context: member, commentId: value.id })).toEqual(removed)
      expect((yield* listed(plan.id, { limit: 10 })).items).toEqual([removed])
      const unknown = RunCommentId.make(`cmt_${"a".repeat(24)}`)
      expect(yield* Effect.flip(runs.RemoveComment(plan.id, { context: member, commentId: unknown }))).toMatchObject({
        code: "not_found"
      })
      const { items } = yield* (yield* Audit).list(workspaceId, "", { runId: plan.id }, { limit: 10 })
      expect(items.slice(0, 2).map(({ action }) => action)).toEqual(["run.comment_remove", "run.comment"])
      expect(items[0]?.capsuleId).toBe(plan.capsuleId)
      expect(JSON.stringify(items)).not.toContain("rash")
    })
  )

  tests.live("comments on a Run can mention only members, and notify them by email without the text", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const runs = yield* RunCommands
      const { plan } = yield* planned("mentions", pureModule)
      const reader = yield* newMember(workspaceId, context, "viewer")
      const stranger = yield* newOwner("stranger")
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE users SET email_proof = 'operator'`
      const before = yield* Effect.flip(
        runs.Comment(plan.id, {
          context,
          text: "@both",
          mentions: [subjectOf(reader), subjectOf(stranger.context)]
        })
      )
      expect(before).toMatchObject({ code: "invalid_request" })
      expect(yield* mailsTo(subjectOf(reader))).toEqual([])
      const { value } = yield* runs.Comment(plan.id, {
        context,
        text: "@viewer look at the quiet zebra",
        mentions: [subjectOf(reader), subjectOf(reader), subjectOf(context)]
      })
      expect(value.mentions).toEqual([subjectOf(reader), subjectOf(context)])
      const mails = yield* mailsTo(subjectOf(reader))
      expect(mails).toHaveLength(1)
      expect(mails[0]?.text).toContain(`/runs/${plan.id}`)
      expect(mails[0]?.text).toContain("mentions")
      expect(JSON.stringify(mails)).not.toContain("zebra")
      // People receive no email about their own comments.
      expect(yield* mailsTo(subjectOf(context))).toEqual([])
    })
  )

  tests.live("svc rejects comments beyond a Run's limit, and removes comments with their Run", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const runs = yield* RunCommands
      const { plan } = yield* planned("many", pureModule)
      yield* sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${mostComments})
        INSERT INTO run_comments (id, run_id, author, text, mentions, created_at)
        SELECT 'cmt_' || ${padded(sql, "i", 24)}, ${plan.id}, ${subjectOf(context)}, 'x', '[]', '2026-01-01T00:00:00.000Z' FROM n`
      expect(yield* Effect.flip(runs.Comment(plan.id, { context, text: "One more" }))).toMatchObject({
        code: "failed_precondition"
      })
      expect(Option.isSome(yield* Effect.option((yield* Runs).read(plan.id)))).toBe(true)
      const keys = yield* sql<{ on_delete: string }>`SELECT on_delete FROM pragma_foreign_key_list('run_comments')`
      expect(keys).toEqual([{ on_delete: "CASCADE" }])
    })
  )
})
