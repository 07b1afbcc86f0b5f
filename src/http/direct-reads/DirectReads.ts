import { Clock, Context, Effect, Layer, Option, References, Result } from "effect"
import { Headers } from "effect/http"
import { TokenAuthority } from "../../../actors/account/TokenAuthority.ts"
import { PointReads } from "../../../actors/database/PointReads.ts"
import { ReadSql } from "../../../actors/database/ReadSql.ts"
import { countRead } from "../../observability/HttpMetrics.ts"
import { presentedCredential, sessionHeader } from "../authorization/Credentials.ts"
import { credentialRefusal, grantedWorkspace, scopeRefusal } from "../authorization/Permission.ts"
import { locateAtOnce } from "../authorization/WorkspaceLocation.ts"
import { HttpSettings, sessionCookieName } from "../HttpSettings.ts"
import { recordResponses } from "../ResponseHeaders.ts"
import { directRoutes } from "./DirectRoutes.ts"

/** A request for one record by its id, spelled in the one way that needs no decoding. */
const recordUrl = /^https?:\/\/[^/?#]+(\/api\/v1\/[a-z-]+\/)([a-z]+_[a-z0-9]+)$/

/** Answers a request at once; `None` leaves it to the routes. */
export type DirectHandler = (request: Request, requestId: string) => Option.Option<Response>

/**
 * Reads of one record by holders of personal tokens, answered straight from the database: scripts ask these all the time,
 * and routing, Effects and statements cost many times the read itself. It only ever says yes. Whatever is not plainly
 * granted and there (another credential, a query, no role, no row, a token whose use has to be noted) is left to the
 * routes, which decide by the same rules and know what to answer. What a token may do is remembered only until anything is
 * committed: a revoked token or membership counts at once.
 */
export class DirectReads extends Context.Service<DirectReads, { readonly answer: DirectHandler }>()(
  "svc/http/direct-reads/DirectReads"
) {
  static readonly layer = Layer.effect(
    DirectReads,
    Effect.gen(function* () {
      const tokens = yield* TokenAuthority
      const { baseUrl } = yield* HttpSettings
      const recordResponse = recordResponses(baseUrl)
      const sql = yield* ReadSql
      const reads = yield* PointReads
      const clock = yield* Clock.Clock
      const count = yield* countRead
      // Whoever traces requests wants to see all of them.
      const traced = yield* References.TracerEnabled
      const cookie = sessionCookieName(baseUrl)
      const routes = new Map(
        (yield* directRoutes).map((route) => [
          route.prefix,
          { ...route, locate: locateAtOnce(sql, reads, route.locator) }
        ])
      )

      const read = (request: Request): Option.Option<unknown> => {
        const [, prefix = "", id = ""] = recordUrl.exec(request.url) ?? []
        const route = routes.get(prefix)
        const authorization = request.headers.get("authorization")
        if (route === undefined || authorization === null || request.headers.has(sessionHeader)) return Option.none()
        const presented = presentedCredential(Headers.fromRecordUnsafe({ authorization }), cookie)
        if (Result.isFailure(presented)) return Option.none()
        return reads.together(() => {
          const found = tokens.atOnce(presented.success.secret, clock.currentTimeMillisUnsafe())
          if (Option.isNone(found)) return Option.none()
          const principal = found.value
          const refused =
            scopeRefusal(principal, request.method) ??
            credentialRefusal(principal, route.rule) ??
            Option.getOrUndefined(
              Result.getFailure(grantedWorkspace(principal, route.rule.role, route.locate(id, principal.subject)))
            )
          return refused === undefined ? route.read(id) : Option.none()
        })
      }

      return DirectReads.of({
        answer: (request, requestId) => {
          if (traced || request.method !== "GET") return Option.none()
          const started = clock.currentTimeMillisUnsafe()
          return Option.map(read(request), (body) => {
            count(clock.currentTimeMillisUnsafe() - started)
            return recordResponse(body, requestId)
          })
        }
      })
    })
  )
}
