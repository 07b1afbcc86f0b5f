import { expect } from "bun:test"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { NoticeEndpoints } from "../../../../actors/access/notice/NoticeEndpoints.ts"
import { RowChecks } from "../../../../actors/base/database/Table.ts"
import { Receipts } from "../../../../actors/base/idempotency/Receipts.ts"
import { NoticeDelivery } from "../../../../actors/base/notice/NoticeDelivery.ts"
import { NoticeSettings } from "../../../../actors/base/notice/NoticeRows.ts"
import { NoticeSignals } from "../../../../actors/base/notice/Notices.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { loopback } from "../../../support/LoopbackServer.ts"
import { addEndpoint, aWorkspace, following, report } from "./support/Receivers.ts"

/** `npm run test:notices` sends a thousand notices. */
const events = Number(process.env["SVC_NOTICE_EVENTS"] ?? 20)
const endpoints = 20
const hanging = 5

it.live(
  `${events} notices reach every working endpoint before a hanging endpoint's first request times out`,
  () =>
    Effect.gen(function* () {
      const arrived = new Map<string, number>()
      const complete = yield* Deferred.make<void>()
      let total = 0
      const origin = yield* loopback((request, response) => {
        const path = request.url ?? ""
        request.resume()
        request.on("end", () => {
          if (path.startsWith("/hang")) return
          response.writeHead(204).end()
          arrived.set(path, (arrived.get(path) ?? 0) + 1)
          total += 1
          if (total === (endpoints - hanging) * events) Deferred.doneUnsafe(complete, Effect.void)
        })
      })
      const layer = NoticeDelivery.layer.pipe(
        Layer.provideMerge(NoticeEndpoints.layer),
        Layer.provide(Layer.succeed(NoticeSettings, { baseUrl: origin, allowOrigins: [origin] })),
        Layer.provideMerge(Receipts.layer),
        Layer.provideMerge(testAccounts),
        Layer.provideMerge(
          Layer.effect(
            NoticeSignals,
            Effect.sync(() => new Set<() => void>())
          )
        )
      )
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const scope = yield* aWorkspace
        for (let index = 0; index < endpoints; index++) {
          const name = index < hanging ? `hang${index}` : `works${index}`
          yield* addEndpoint(scope, name, { address: `${origin}/${name}` })
        }
        for (let event = 0; event < events; event++) {
          yield* report(scope.workspaceId, String.fromCharCode(97 + (event % 25)))
        }
        yield* following
        yield* Deferred.await(complete)
        expect(yield* sql`SELECT delivery_id FROM notice_attempts WHERE outcome <> 'accepted'`).toEqual([])
        expect([...arrived.values()]).toEqual(Array.from({ length: endpoints - hanging }, () => events))
      }).pipe(
        // Disables the checks of rows against their models, because a server does not run these checks either.
        Effect.provideService(RowChecks, false),
        Effect.provide(Layer.fresh(layer))
      )
    }),
  600_000
)
