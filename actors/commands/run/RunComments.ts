import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Redaction } from "../../../runner/redaction/Redaction.ts"
import { redactionMark } from "../../../runner/redaction/RedactionMark.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import { type Secret, valueSecrets } from "../../../runner/redaction/SecretRule.ts"
import type { CommandContext, IdempotentRequest, Replayable } from "../../../schema/commands/Command.ts"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { RunCommentId, RunId, Subject, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { RunComment } from "../../../schema/records/RunComment.ts"
import { SubjectsJson } from "../../access/account/PeopleBehind.ts"
import { StoredUser, verifiedAddress } from "../../access/account/UserRow.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { newId, now } from "../../base/Identity.ts"
import { Mails } from "../../base/mail/Mails.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { type Page, pageOfRows, type PageRequest } from "../../base/paging/RowPages.ts"
import { integrityFault, orOnIntegrityFault } from "../../base/vault/IntegrityFault.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { MembershipRow } from "../../ledger/workspace/MembershipRow.ts"
import { StoredWorkspace } from "../../ledger/workspace/StoredWorkspace.ts"
import { RunPlans } from "../../running/execution/RunPlans.ts"

/** Comments on Runs. */
export const RunCommentRow = table("run_comments", {
  id: RunCommentId,
  run_id: RunId,
  author: Subject,
  /** The masked text. `NULL` after the author has removed the comment. */
  text: Schema.NullOr(Schema.String),
  mentions: SubjectsJson,
  created_at: Timestamp,
  removed_at: Schema.NullOr(Timestamp)
})
type RunCommentRow = RowOf<typeof RunCommentRow.columns>

/** Maximum number of comments on a Run, including removed ones. */
export const mostComments = 1000

const decode = storedRecord(RunComment)

const toComment = (row: RunCommentRow): RunComment => {
  const mentions = SubjectsJson.read(row.mentions)
  return decode({
    id: row.id,
    runId: row.run_id,
    author: row.author,
    ...(row.text === null ? {} : { text: row.text }),
    ...(mentions.length === 0 ? {} : { mentions }),
    createdAt: row.created_at,
    ...(row.removed_at === null ? {} : { removedAt: row.removed_at })
  })
}

interface NewComment {
  readonly text: string
  readonly mentions?: ReadonlyArray<Subject> | undefined
  readonly idempotency?: IdempotentRequest | undefined
}

/**
 * Comments on a Run. Everybody who can read the Run can read its comments. Comments cannot be edited, but their author can remove
 * them.
 */
export class RunComments extends Context.Service<
  RunComments,
  {
    /** Oldest first. */
    readonly list: (id: RunId, page: PageRequest) => Effect.Effect<Page<RunComment>, ApiError>
    /** Writes a comment. Masks known secrets in the same way as in logs, and mails the mentioned people. */
    readonly write: (
      id: RunId,
      context: CommandContext,
      comment: NewComment
    ) => Effect.Effect<Replayable<RunComment>, ApiError>
    /** Erases the text. Fails unless the author calls it. */
    readonly remove: (
      id: RunId,
      context: CommandContext,
      commentId: RunCommentId
    ) => Effect.Effect<RunComment, ApiError>
  }
>()("svc/actors/commands/run/RunComments") {
  static readonly layer = Layer.effect(
    RunComments,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(Redaction.layer))
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  const cursors = yield* Cursors
  const receipts = yield* Receipts
  const audit = yield* Audit
  const mails = yield* Mails
  const secretsOf = yield* makeRunSecrets
  const redaction = yield* Redaction
  const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
  const inDatabase = Effect.provideService(SqlClient.SqlClient, sql)

  const runOf = Effect.fnUntraced(function* (client: SqlClient.SqlClient, id: RunId) {
    const [run] = yield* Effect.orDie(RunRow.rows(client)`SELECT * FROM runs WHERE id = ${id}`)
    return run === undefined ? yield* notFound("Run") : run
  })

  const masked = Effect.fnUntraced(function* (text: string, secrets: ReadonlyArray<Secret>) {
    return yield* redaction.redactor(secrets).pipe(
      Effect.flatMap((redactor) => redactor.items([{ as: "text", text }])),
      Effect.map(([shown]) => shown ?? redactionMark),
      // If the worker thread fails, redacts on this thread, which is fast because comments are short.
      Effect.orElseSucceed(() => new Redactor(secrets).text(text)),
      Effect.scoped
    )
  })

  /**
   * Filters the given people to those who can read the Run, which are the active members of its Workspace. Excludes
   * automations, which receive no mail.
   */
  const readersAmong = Effect.fnUntraced(function* (workspaceId: WorkspaceId, subjects: ReadonlyArray<Subject>) {
    if (subjects.length === 0) return []
    const rows = yield* MembershipRow.some(sql, "subject")`SELECT m.subject FROM memberships m
      JOIN users u ON u.subject = m.subject WHERE m.workspace_id = ${workspaceId} AND m.status = 'active'
        AND u.status = 'active' AND u.kind = 'person' AND ${sql.in("m.subject", subjects)}`
    return rows.map(({ subject }) => subject)
  }, Effect.orDie)

  const mailMentioned = Effect.fnUntraced(function* (run: RunRow, author: Subject, mentions: ReadonlyArray<Subject>) {
    const { baseUrl } = mails
    if (baseUrl === undefined) return
    const [workspace] = yield* Effect.orDie(
      StoredWorkspace.some(sql, "handle")`SELECT handle FROM workspaces WHERE id = ${run.workspace_id}`
    )
    const [capsule] = yield* Effect.orDie(
      CapsuleRow.some(sql, "name")`SELECT name FROM capsules WHERE id = ${run.capsule_id}`
    )
    const [user] = yield* Effect.orDie(
      StoredUser.some(sql, "email", "display_name")`SELECT email, display_name FROM users WHERE subject = ${author}`
    )
    const sender = { subject: author, workspaceId: run.workspace_id }
    for (const subject of mentions) {
      const address = subject === author ? undefined : yield* inDatabase(verifiedAddress(subject))
      if (address === undefined) continue
      // Sends no mail if the author has triggered too many mails, but still stores the comment. The mentioned people can see
      // the comment in the dashboard.
      const isAdmitted = yield* mails.admit(sender).pipe(
        Effect.as(true),
        Effect.orElseSucceed(() => false)
      )
      if (!isAdmitted) return
      const link = `${baseUrl}/w/${workspace?.handle ?? run.workspace_id}/runs/${run.id}`
      const person = user?.display_name ?? user?.email ?? author
      yield* mails.queue(address, { kind: "mention", link, person, capsule: capsule?.name }, sender)
    }
  })

  const record = (run: RunRow, context: CommandContext, action: string, commentId: RunCommentId) =>
    audit.append({
      workspaceId: run.workspace_id,
      actor: context.actor,
      action,
      target: { kind: "run", id: run.id },
      capsuleId: run.capsule_id ?? undefined,
      runId: run.id,
      // The audit history does not include the text of the comment.
      data: { type: run.type, commentId },
      requestId: context.requestId
    })

  const insert = Effect.fnUntraced(function* (
    id: RunId,
    context: CommandContext,
    text: string,
    mentions: ReadonlyArray<Subject>
  ) {
    const run = yield* runOf(sql, id)
    const author = yield* authorOf(context)
    const counted = yield* Effect.orDie(RunCommentRow.some(sql, "id")`SELECT id FROM run_comments
      WHERE run_id = ${id} LIMIT 1 OFFSET ${mostComments - 1}`)
    if (counted.length > 0) {
      return yield* failedPrecondition(`The Run has ${mostComments} comments, the most that a Run keeps.`)
    }
    const readers = yield* readersAmong(run.workspace_id, mentions)
    if (readers.length < mentions.length) {
      return yield* invalidRequest(
        "mentions: holds somebody who is no active member of the Workspace, so they cannot read the Run. Leave them out."
      )
    }
    const [row] = yield* Effect.orDie(
      RunCommentRow.rows(sql)`INSERT INTO run_comments ${RunCommentRow.values(sql, {
        id: yield* withRandom(newId(RunCommentId, "cmt")),
        run_id: id,
        author,
        text,
        mentions: SubjectsJson.write(mentions),
        created_at: yield* now,
        removed_at: null
      })} RETURNING *`
    )
    if (row === undefined) return yield* Effect.die(new Error("The comment was not inserted"))
    yield* record(run, context, "run.comment", row.id)
    yield* mailMentioned(run, author, mentions)
    return toComment(row)
  })

  const find = Effect.fnUntraced(function* (client: SqlClient.SqlClient, id: RunId, commentId: string) {
    const [row] = yield* Effect.orDie(
      RunCommentRow.rows(client)`SELECT * FROM run_comments WHERE id = ${commentId} AND run_id = ${id}`
    )
    return row === undefined ? yield* notFound("Comment") : row
  })

  return RunComments.of({
    list: Effect.fn("RunComments.list")(function* (id, page) {
      yield* runOf(read, id)
      const list = { route: "comments.list", newestFirst: false, conditions: [read`run_id = ${id}`], filter: [id] }
      const rows = yield* pageOfRows(RunCommentRow, read, cursors, list, page)
      return { ...rows, items: rows.items.map(toComment) }
    }),
    write: Effect.fn("RunComments.write")(function* (id, context, { idempotency, mentions = [], text }) {
      const before = yield* runOf(read, id)
      const secrets = yield* secretsOf(before).pipe(
        orOnIntegrityFault(() =>
          Effect.fail(new ApiError({ code: "failed_precondition", message: integrityFault.message }))
        )
      )
      const shown = yield* masked(text, secrets)
      const people = [...new Set(mentions)]
      const create = insert(id, context, shown, people)
      if (idempotency === undefined) {
        return { value: yield* transaction(sql)(create), replayed: false }
      }
      const scope = { scope: before.workspace_id, actor: context.actorKey, route: "comments.write" }
      return yield* receipts.once(scope, idempotency, {
        create: Effect.map(create, (value) => ({ value, receipt: { resultId: value.id, firstStatus: 201 } })),
        replay: ({ resultId }) => Effect.map(find(sql, id, resultId), toComment)
      })
    }),
    remove: Effect.fn("RunComments.remove")(function* (id, context, commentId) {
      const run = yield* runOf(sql, id)
      const row = yield* find(sql, id, commentId)
      if (row.author !== context.actor.subject) {
        return yield* new ApiError({
          code: "permission_denied",
          message: "Only the author of a comment may remove it."
        })
      }
      if (row.removed_at !== null) return toComment(row)
      const [removed] = yield* Effect.orDie(RunCommentRow.rows(sql)`UPDATE run_comments
        SET ${RunCommentRow.changes(sql, { text: null, mentions: SubjectsJson.write([]), removed_at: yield* now })}
        WHERE id = ${commentId} RETURNING *`)
      yield* record(run, context, "run.comment_remove", commentId)
      return toComment(removed ?? row)
    }, transaction(sql))
  })
})

const authorOf = ({ actor: { subject } }: CommandContext) =>
  subject === undefined ? Effect.die(new Error("A comment without an author")) : Effect.succeed(Subject.make(subject))

/**
 * Returns the known secrets of a Run and its Capsule: from the plan, from the states before and after it, from the configuration,
 * and from the Capsule's Connections.
 */
const makeRunSecrets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const plans = yield* RunPlans
  const states = yield* StateVersions
  const configs = yield* InstallConfigStore
  const connections = yield* ConnectionStore

  return Effect.fn("RunComments.secrets")(function* (run: RunRow) {
    const found: Array<Secret> = []
    const [capsule] = yield* Effect.orDie(
      CapsuleRow.some(sql, "install_config_id", "current_state_version_id")`
        SELECT install_config_id, current_state_version_id FROM capsules WHERE id = ${run.capsule_id}`
    )
    for (const id of new Set([run.id, run.plan_run_id])) {
      const plan = yield* plans.secrets(run.workspace_id, id)
      if (plan !== undefined) found.push(...plan.inputs, ...plan.credentials, ...plan.marked)
    }
    for (const id of new Set([run.base_state_version_id, capsule?.current_state_version_id ?? null])) {
      const state = yield* states.find(id)
      if (state === undefined) continue
      const secrets = yield* states.secrets(state)
      found.push(...secrets)
      for (const output of yield* states.outputs(id)) {
        if (output.sensitive === 0) continue
        const value = yield* states.outputValue(output)
        found.push(...valueSecrets(output.name, Redacted.value(value)))
      }
    }
    for (const id of new Set([run.install_config_id, capsule?.install_config_id ?? null])) {
      const config = yield* configs.load(id)
      if (config === undefined || id === null) continue
      const values = yield* configs.values(config.row)
      for (const { name, sensitive } of config.config.variables) {
        const value = values[name]
        if (sensitive && value !== undefined) found.push(...valueSecrets(name, value))
      }
      for (const { connection_id } of yield* configs.bindings(id)) {
        const row = yield* connections.find(connection_id)
        if (row === undefined || row.status === "unconfirmed") continue
        const { files, values: credentials } = Redacted.value(yield* connections.secrets(row))
        for (const [origin, value] of Object.entries(credentials)) found.push({ origin, value: Redacted.make(value) })
        for (const { content, name } of files) found.push({ origin: name, value: Redacted.make(content) })
      }
    }
    return found
  })
})
