import { createHmac } from "node:crypto"
import { Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { NoticeEndpoints } from "../../../../../actors/access/notice/NoticeEndpoints.ts"
import { transaction } from "../../../../../actors/base/database/Transaction.ts"
import { Receipts } from "../../../../../actors/base/idempotency/Receipts.ts"
import { NoticeDelivery } from "../../../../../actors/base/notice/NoticeDelivery.ts"
import { NoticeDeliveryRow, NoticeSettings } from "../../../../../actors/base/notice/NoticeRows.ts"
import { NoticeSignals, writeNotice } from "../../../../../actors/base/notice/Notices.ts"
import { NoticePost, type NoticePostRequest, type NoticePostResult } from "../../../../../runner/probe/NoticePost.ts"
import type { NewNoticeEndpoint } from "../../../../../schema/api/NoticesApi.ts"
import { CapsuleId, ProjectId, RunId, type WorkspaceId } from "../../../../../schema/records/Ids.ts"
import { SentNotice } from "../../../../../schema/records/NoticeEndpoint.ts"
import { as, newPerson, newWorkspace, testAccounts } from "../../../../support/Accounts.ts"

/** A request that a receiver got. */
export interface Received {
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly notice: SentNotice | undefined
}

const decodeNotice = Schema.decodeUnknownOption(Schema.fromJsonString(SentNotice))

/**
 * Requests received so far, and the response to give at each address. An address with no configured response accepts every
 * request.
 */
export interface Receivers {
  readonly got: Array<Received>
  readonly answers: Map<string, (request: Received) => Effect.Effect<NoticePostResult>>
}

export const makeReceivers = (): Receivers => ({ got: [], answers: new Map() })

const accepted: NoticePostResult = { outcome: "accepted", status: 204 }

const postTo = (receivers: Receivers) => ({
  send: (request: NoticePostRequest) =>
    Effect.suspend(() => {
      const decoded = decodeNotice(request.body)
      const received: Received = {
        address: request.address,
        headers: request.headers,
        body: request.body,
        notice: decoded._tag === "Some" ? decoded.value : undefined
      }
      receivers.got.push(received)
      return receivers.answers.get(request.address)?.(received) ?? Effect.succeed(accepted)
    })
})

/** Delivers notices to in-memory receivers, with real accounts and a real database. */
export const deliveries = (receivers: Receivers) =>
  NoticeDelivery.layer.pipe(
    Layer.provideMerge(NoticeEndpoints.layer),
    Layer.provide(Layer.succeed(NoticePost, postTo(receivers))),
    Layer.provide(Layer.succeed(NoticeSettings, { baseUrl: "https://svc.example.test", allowOrigins: [] })),
    Layer.provideMerge(Receipts.layer),
    Layer.provideMerge(testAccounts),
    Layer.provideMerge(
      Layer.effect(
        NoticeSignals,
        Effect.sync(() => new Set<() => void>())
      )
    )
  )

export const aWorkspace = Effect.gen(function* () {
  const owner = yield* newPerson("owner")
  const { id } = yield* newWorkspace(owner.subject, { handle: "acme", displayName: "Acme" })
  return { workspaceId: id, subject: owner.subject }
})

/** Adds an endpoint whose address ends with this name, and returns its id, address and secret. */
export const addEndpoint = Effect.fnUntraced(function* (
  scope: { readonly workspaceId: WorkspaceId; readonly subject: string },
  name: string,
  more: Partial<NewNoticeEndpoint> = {}
) {
  const address = `https://hooks.example.test/${name}`
  const request: NewNoticeEndpoint = { name, format: "json", address, kinds: ["run.failed"], ...more }
  const { value } = yield* (yield* NoticeEndpoints).create(as(scope.subject), scope, request)
  return { id: value.endpoint.id, address, secret: value.secret ?? "" }
})

const capsuleOf = (letter: string) => CapsuleId.make(`cap_${letter.repeat(24)}`)

/** Records a notice about the Capsule whose id is made up of this letter. */
export const report = Effect.fnUntraced(function* (workspaceId: WorkspaceId, letter = "a", code = "apply_failed") {
  const sql = yield* SqlClient.SqlClient
  const id = capsuleOf(letter)
  const projectId = ProjectId.make(`prj_${"a".repeat(24)}`)
  yield* transaction(sql)(
    writeNotice(
      sql,
      "run.failed",
      Effect.succeed({
        workspaceId,
        subject: { kind: "capsule", id } as const,
        path: "runs/x",
        capsule: { id, projectId, environment: "production" },
        data: {
          capsule: { id, name: "shop", environment: "production", projectId },
          run: { id: RunId.make(`run_${"a".repeat(24)}`), type: "apply", trigger: "user" },
          code
        }
      })
    )
  )
})

/** Delivers notices in the background until the test's Scope closes. */
export const following = Effect.flatMap(NoticeDelivery, ({ follow }) => Effect.forkScoped(follow))

/** Stops delivery abruptly, as a crash would. */
export const stopped = <A, E>(fiber: Fiber.Fiber<A, E>) => Fiber.interrupt(fiber)

/**
 * Waits until all due work is done. Only `adjust` advances the tests' clock, so the loop repeatedly yields to let the
 * database work.
 */
export const settled = Effect.gen(function* () {
  for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow
})

/** Advances time, then waits until all due work is done. */
export const later = Effect.fnUntraced(function* (time: Parameters<typeof TestClock.adjust>[0]) {
  yield* TestClock.adjust(time)
  yield* settled
})

export const rowsOf = Effect.fnUntraced(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* NoticeDeliveryRow.rows(sql)`SELECT * FROM notice_deliveries ORDER BY created_at, endpoint_id, sequence`
})

/** Computes the signature that Standard Webhooks specifies, without the library that svc uses. */
export const expectedSignature = (secret: string, { body, headers }: Pick<Received, "body" | "headers">): string => {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64")
  const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`
  return `v1,${createHmac("sha256", key).update(content).digest("base64")}`
}
