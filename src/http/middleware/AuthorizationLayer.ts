import { Context, Effect, Layer, Option } from "effect"
import { Readmission } from "../../../actors/base/Readmission.ts"
import { accessOf } from "../../../schema/api/Roles.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { Authorization, Caller, type CallerShape } from "../../../schema/api/Middleware.ts"
import { Admitted, admissions } from "../authorization/Admission.ts"
import { currentRequestId } from "../../http-kit/Exchange.ts"
import { whenTraced } from "../../http-kit/WhenTraced.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { isRetired, retiredResponse } from "../RetiredRoutes.ts"
import { disabledFamilies } from "../DisabledFamily.ts"

/** Creates the caller for a route that is public or that reads its credential itself. */
const anonymous = (requestId: string): CallerShape => ({
  subject: "",
  credential: "session",
  credentialId: "",
  scopes: [],
  actor: { kind: "user" },
  requestId
})

/**
 * Authenticates and authorises every route according to its row in `accessTable`. A route without a row prevents the server from
 * starting.
 */
export const authorizationLayer = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const admit = yield* admissions
    const { familiesOff = [] } = yield* HttpSettings
    const refusals = disabledFamilies(familiesOff)
    return (httpEffect, { endpoint, group }) => {
      const rule = accessOf(endpoint)
      const name = `${group.identifier}.${endpoint.identifier}`
      if (rule.kind === "public" || rule.kind === "token") {
        return Effect.flatMap(currentRequestId, (requestId) =>
          Effect.provideService(httpEffect, Caller, anonymous(requestId))
        )
      }
      const { again, first } = admit(rule, name)
      const admission = whenTraced("admit", first)
      const retired = isRetired(name)
      const off = refusals.get(`${endpoint.method} ${endpoint.path}`)
      const permitted: Effect.Effect<void, ApiError> = off === undefined ? Effect.void : Effect.fail(off)
      return Effect.contextWith((request: Context.Context<Effect.Services<typeof admission>>) =>
        Effect.flatMap(Effect.tap(admission, permitted), ({ ambient, caller }) => {
          if (retired) return Effect.succeed(retiredResponse(caller.requestId))
          const recheck = Effect.asVoid(Effect.provideContext(again, request))
          const admitted = Option.some({ ambient, recheck })
          return Effect.updateContext(httpEffect, (context: typeof request) =>
            Context.add(Context.add(Context.add(context, Caller, caller), Admitted, admitted), Readmission, recheck)
          )
        })
      )
    }
  })
)
