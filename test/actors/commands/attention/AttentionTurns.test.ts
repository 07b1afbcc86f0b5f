import { afterAll, expect } from "bun:test"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ApprovalRules } from "../../../../actors/access/approval/ApprovalRules.ts"
import { mailPlace, SealedMail } from "../../../../actors/base/mail/Mails.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { Attention } from "../../../../actors/commands/attention/Attention.ts"
import type { CommandContext } from "../../../../schema/commands/Command.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { Subject } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { planned } from "../../../support/Journey.ts"
import { newMember, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

const mail = { smtpUrl: "smtp://127.0.0.1:25", smtpFrom: "svc@example.test", baseUrl: "https://svc.example.test" }
const tests = suite(testPlane({ runner: pureRunner(pureModules()), settings: mail }))
afterAll(tests.dispose)

const subjectOf = ({ actor }: CommandContext) => Subject.make(actor.subject ?? "")

/** Reads the plan's entry in this person's attention list. */
const entryFor = Effect.fnUntraced(function* (person: CommandContext, runId: string) {
  const { workspaceId } = yield* TestPlane
  const page = yield* (yield* Attention).list(workspaceId, { subject: subjectOf(person) }, { limit: 100 })
  const found = page.items.find(({ run }) => run?.id === runId)
  return { ...found, forOthers: page.forOthers.decision, first: page.items[0] }
})

const decodeMail = Schema.decodeUnknownEffect(SealedMail)

const requestsTo = Effect.fnUntraced(function* (person: CommandContext) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const rows = yield* sql<{ id: string; content: string }>`SELECT m.id, m.content FROM mails m
    JOIN users u ON u.email = m.recipient WHERE u.subject = ${subjectOf(person)} AND m.kind = 'approval_request'`
  return yield* Effect.forEach(rows, ({ content, id }) =>
    Effect.flatMap(vault.openText(mailPlace(id), content), (text) => decodeMail(Redacted.value(text)))
  )
})

tests.live(
  "each person sees a plan as waiting for them if their approval counts, and as waiting for others if not",
  () =>
    Effect.gen(function* () {
      const { context: owner, workspaceId } = yield* TestPlane
      const runs = yield* RunCommands
      const admin = yield* newMember(workspaceId, owner, "admin")
      const member = yield* newMember(workspaceId, owner, "member")
      const viewer = yield* newMember(workspaceId, owner, "viewer")
      const { plan } = yield* planned("turns", pureModule)
      expect(yield* entryFor(owner, plan.id)).toMatchObject({ kind: "waiting_approval", forOthers: 0 })
      expect((yield* entryFor(admin, plan.id)).waitsForOthers).toBeUndefined()
      for (const person of [member, viewer]) {
        expect(yield* entryFor(person, plan.id)).toMatchObject({ waitsForOthers: true, forOthers: 1 })
      }

      // The author's approval does not count, so the plan now waits for the admin.
      const scope = { workspaceId, subject: subjectOf(owner) }
      const rule = yield* (yield* ApprovalRules).create(owner, scope, { approvers: 1 })
      expect((yield* entryFor(owner, plan.id)).waitsForOthers).toBe(true)
      expect((yield* entryFor(admin, plan.id)).waitsForOthers).toBeUndefined()

      // An approval request reaches only the people whose approval counts, and at most once an hour.
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE users SET email_proof = 'operator'`
      const request = yield* runs.AskApproval(plan.id, { context: member })
      expect(request).toMatchObject({ runId: plan.id, subject: subjectOf(member), asked: 1 })
      const [sent] = yield* requestsTo(admin)
      expect(sent?.text).toContain(`/runs/${plan.id}`)
      for (const person of [owner, member, viewer]) expect(yield* requestsTo(person)).toEqual([])
      expect((yield* entryFor(admin, plan.id)).run).toMatchObject({
        approvalAsked: { subject: subjectOf(member), at: request.at }
      })
      const refused = yield* Effect.flip(runs.AskApproval(plan.id, { context: owner }))
      expect(refused).toMatchObject({ code: "rate_limited" })
      expect(yield* requestsTo(admin)).toHaveLength(1)
      yield* sql`UPDATE run_approval_requests SET created_at = '2026-01-01T00:00:00.000Z'`
      yield* runs.AskApproval(plan.id, { context: owner })
      expect(yield* requestsTo(admin)).toHaveLength(2)

      yield* (yield* ApprovalRules).remove(owner, scope, rule.id)
      yield* runs.Cancel(plan.id, { context: owner })
      expect(yield* Effect.flip(runs.AskApproval(plan.id, { context: member }))).toMatchObject({
        code: "failed_precondition"
      })
    })
)
