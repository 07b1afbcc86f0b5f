import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import { DatabaseSync } from "node:sqlite"
import { Deferred, Effect, Layer, Option, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { NoticeEndpoints } from "../../actors/access/notice/NoticeEndpoints.ts"
import { Users } from "../../actors/access/account/Users.ts"
import { transaction } from "../../actors/base/database/Transaction.ts"
import type { KillPointName } from "../../actors/base/KillPoint.ts"
import { NoticeSettings } from "../../actors/base/notice/NoticeRows.ts"
import { writeNotice } from "../../actors/base/notice/Notices.ts"
import { Workspaces } from "../../actors/ledger/workspace/Workspaces.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { ApprovalRuleId } from "../../schema/records/Ids.ts"
import { SentNotice } from "../../schema/records/NoticeEndpoint.ts"
import type { platform } from "../../src/composition/Platform.ts"
import { storage } from "../../src/composition/Storage.ts"
import { loadSettings } from "../../src/settings/Settings.ts"
import { Broken, holds } from "./CrashClient.ts"
import type { KillAt } from "./CrashEnvironment.ts"
import { eventually } from "../support/Eventually.ts"
import { type ServeOptions, serve } from "./ServerProcess.ts"

/** A server that is killed while it delivers notices. */
export interface NoticeKill {
  readonly name: string
  readonly at: KillAt
}

const points: ReadonlyArray<readonly [KillPointName, ReadonlyArray<number>]> = [
  ["notice.sending", [1, 5]],
  ["notice.sent", [1, 5]],
  ["notice.settling", [1, 2]],
  ["notice.settled", [1, 2]],
  ["notice.mailing", [1, 5]]
]

export const noticeScenarios: ReadonlyArray<NoticeKill> = points.flatMap(([point, passings]) =>
  passings.map((passing) => ({ name: `a server dies at ${point}:${passing}`, at: { point, passing } }))
)

const subjects = ["a", "b", "c"]
const ofEach = 6
const total = subjects.length * ofEach

interface Request {
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  readonly body: string
}

/** Starts a receiver that accepts every request, and completes once this many different notices have arrived. */
const receiver = Effect.gen(function* () {
  const got: Array<Request> = []
  const ids = new Set<unknown>()
  const complete = yield* Deferred.make<void>()
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      got.push({ headers: request.headers, body: Buffer.concat(parts).toString() })
      ids.add(request.headers["webhook-id"])
      response.writeHead(204).end()
      if (ids.size === total) Deferred.doneUnsafe(complete, Effect.void)
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const address = server.address()
  return { got, complete, origin: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }
})

/**
 * Creates an installation with one endpoint, one person who receives mail, and pending notices for both. Returns the
 * endpoint's secret.
 */
const prepare = Effect.fnUntraced(function* (dataDir: string, origin: string) {
  const settings = yield* loadSettings(new Map([["dataDir", dataDir]]), Option.none())
  const world = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const owner = yield* (yield* Users).create(serviceContext, {
      email: "ada@example.test",
      displayName: "Ada",
      isOperator: false
    })
    const workspace = yield* (yield* Workspaces).create(serviceContext, owner.subject, { handle: "one" })
    yield* sql`UPDATE users SET email_proof = 'operator' WHERE subject = ${owner.subject}`
    yield* sql`INSERT INTO notice_mail_kinds ${sql.insert({ subject: owner.subject, kind: "rule.changed" })}`
    const { value } = yield* (yield* NoticeEndpoints).create(
      serviceContext,
      { workspaceId: workspace.id, subject: owner.subject },
      { name: "Receiver", address: `${origin}/hook`, format: "json", kinds: ["rule.changed"] }
    )
    for (let index = 0; index < ofEach; index++) {
      for (const letter of subjects) {
        const ruleId = ApprovalRuleId.make(`apr_${letter.repeat(24)}`)
        yield* transaction(sql)(
          writeNotice(
            sql,
            "rule.changed",
            Effect.succeed({
              workspaceId: workspace.id,
              subject: { kind: "rule" as const, id: ruleId },
              path: "approvals",
              data: { ruleId, change: "updated" as const }
            })
          )
        )
      }
    }
    return value.secret ?? ""
  })
  return yield* world.pipe(
    Effect.provide(
      Layer.fresh(
        NoticeEndpoints.layer.pipe(
          Layer.provide(Layer.succeed(NoticeSettings, { baseUrl: origin, allowOrigins: [origin] })),
          Layer.provideMerge(storage(settings))
        )
      ),
      { local: true }
    )
  )
})

const Row = Schema.Struct({ id: Schema.String, status: Schema.String, sequence: Schema.Int, subject: Schema.String })

const deliveriesOf = (dataDir: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new DatabaseSync(`${dataDir}/svc.sqlite`)),
    (database) =>
      Schema.decodeUnknownEffect(Schema.Array(Row))(
        database.prepare("SELECT notice_id AS id, status, sequence, subject FROM notice_deliveries").all()
      ),
    (database) => Effect.sync(() => database.close())
  )

const Mailing = Schema.Struct({ due: Schema.Int, queued: Schema.Int })

/** Counts the notices without a queued mail, and the queued mails about notices. */
const mailingOf = (dataDir: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new DatabaseSync(`${dataDir}/svc.sqlite`, { readOnly: true })),
    (database) =>
      Schema.decodeUnknownEffect(Mailing)(
        database
          .prepare(
            `SELECT (SELECT COUNT(*) FROM notices WHERE mail_due IS NOT NULL) AS due,
              (SELECT COUNT(*) FROM mails WHERE notice_subject IS NOT NULL) AS queued`
          )
          .get()
      ),
    (database) => Effect.sync(() => database.close())
  )

const decodeNotice = Schema.decodeUnknownEffect(Schema.fromJsonString(SentNotice))

/** Computes the signature as the Standard Webhooks specification describes, without the library that the product uses. */
const isSigned = ({ body, headers }: Request, secret: string) => {
  const key = Buffer.from(secret.slice("whsec_".length), "base64")
  const content = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`
  return headers["webhook-signature"] === `v1,${createHmac("sha256", key).update(content).digest("base64")}`
}

/**
 * Kills a server during delivery, and restarts it. All notices arrive in order and signed, each notice queues one mail, and no
 * other request is sent.
 */
export const runNoticeKill = Effect.fn("runNoticeKill")(function* (
  program: string,
  { at }: NoticeKill,
  root: string
): Effect.fn.Return<number, unknown, Layer.Success<typeof platform> | Scope.Scope> {
  const dataDir = `${root}/data`
  const { complete, got, origin } = yield* receiver
  const secret = yield* prepare(dataDir, origin)
  const options: ServeOptions = {
    program,
    dataDir,
    gitOrigin: "http://127.0.0.1:9",
    mirror: root,
    notesDir: root,
    logFile: `${root}/server.log`,
    // No mail server listens on this port, so the mails remain in the queue.
    wrapper: [
      "env",
      `SVC_NOTICE_ALLOW_ORIGINS=${origin}`,
      "SVC_SMTP_URL=smtp://127.0.0.1:9",
      "SVC_SMTP_FROM=svc@example.test"
    ]
  }
  const killed = yield* Effect.scoped(
    Effect.gen(function* () {
      const started = yield* Effect.result(serve({ ...options, killAt: at }))
      return started._tag === "Failure" ? started.failure.signal : (yield* started.success.ended).signal
    })
  )
  if (killed !== "SIGKILL") return yield* new Broken({ message: `It was not killed at ${at.point}` })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const server = yield* serve(options)
      yield* Effect.timeoutOrElse(Deferred.await(complete), {
        duration: "60 seconds",
        orElse: () => new Broken({ message: `${got.length} requests arrived, and not every notice was among them` })
      })
      yield* Effect.timeoutOrElse(
        eventually(mailingOf(dataDir), ({ due }) => due === 0),
        {
          duration: "60 seconds",
          orElse: () => new Broken({ message: "The mails of some notices were never queued" })
        }
      )
      yield* server.signal("SIGTERM")
      const { code } = yield* server.ended
      yield* holds(code === 0, `The last server ended with ${code}`)
    })
  )
  const deliveries = yield* deliveriesOf(dataDir)
  const known = new Set(deliveries.map(({ id }) => id))
  const arrived = new Map<string, Array<number>>()
  for (const request of got) {
    yield* holds(isSigned(request, secret), "A request has no valid signature")
    const notice = yield* decodeNotice(request.body)
    yield* holds(known.has(notice.id) && notice.id === request.headers["webhook-id"], `${notice.id} is invented`)
    const before = arrived.get(notice.subject.id) ?? []
    if (!before.includes(notice.sequence)) arrived.set(notice.subject.id, [...before, notice.sequence])
  }
  const expected = Array.from({ length: ofEach }, (_, index) => index + 1).join()
  for (const [subject, sequences] of arrived) {
    yield* holds(sequences.join() === expected, `Notices about ${subject} arrived in the order ${sequences.join()}`)
  }
  const { queued } = yield* mailingOf(dataDir)
  yield* holds(queued === total, `${queued} mails were queued for ${total} notices`)
  yield* holds(arrived.size === subjects.length, `Notices about ${arrived.size} subjects arrived`)
  return 1
}, Effect.scoped)
