import { afterAll, afterEach, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ApprovalRules } from "../../../actors/access/approval/ApprovalRules.ts"
import { readRunApprovals } from "../../../actors/access/approval/RunApprovalReads.ts"
import { Runs } from "../../../actors/ledger/run/Runs.ts"
import type { NewRule } from "../../../schema/api/ApprovalsApi.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { type RunId, Subject } from "../../../schema/records/Ids.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { suite } from "../../support/Effect.ts"
import { newMember, TestPlane, testPlane } from "../../support/TestPlane.ts"
import { pureModules, pureRunner } from "./PureRunner.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"

export const subjectOf = ({ actor }: CommandContext) => Subject.make(actor.subject ?? "")

export const ownerScope = Effect.map(TestPlane, ({ context, workspaceId }) => ({
  workspaceId,
  subject: subjectOf(context)
}))

/**
 * Creates a rule that requires two approvals by default. The plan's author may approve, so tests can try to count one person
 * twice.
 */
export const ruled = Effect.fnUntraced(function* (rule: Partial<NewRule> = {}) {
  const { context } = yield* TestPlane
  return yield* (yield* ApprovalRules).create(context, yield* ownerScope, {
    approvers: 2,
    planAuthorCounts: true,
    ...rule
  })
})

const withoutRules = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM approval_rules`
})

/** Runs tests that share a service. Each test begins without rules. */
export const approvalSuite = () => {
  setDefaultTimeout(60_000)
  const tests = suite(testPlane({ runner: pureRunner(pureModules()) }))
  afterAll(tests.dispose)
  afterEach(() => tests.runPromise(withoutRules))
  return tests
}

export const admin = Effect.gen(function* () {
  const { context, workspaceId } = yield* TestPlane
  return yield* newMember(workspaceId, context, "admin")
})

/** A person's token, which is a second credential for the same subject. */
export const tokenOf = (context: CommandContext): CommandContext => ({
  actor: { kind: "token", subject: subjectOf(context), tokenId: "pat_aaaaaaaaaaaaaaaaaaaaaaaa" },
  actorKey: "pat_aaaaaaaaaaaaaaaaaaaaaaaa"
})

export const approve = Effect.fnUntraced(function* (context: CommandContext, { id, planDigest }: Run) {
  return yield* (yield* RunCommands).Approve(id, { context, ...(planDigest === undefined ? {} : { planDigest }) })
})

export const applyRefused = Effect.fnUntraced(function* (planRunId: RunId) {
  const { context } = yield* TestPlane
  return yield* Effect.flip((yield* Runs).apply(context, planRunId, undefined))
})

export const standing = Effect.fnUntraced(function* (id: RunId, context?: CommandContext) {
  const own = context ?? (yield* TestPlane).context
  return yield* readRunApprovals(id, { subject: subjectOf(own), tokenId: own.actor.tokenId })
})
