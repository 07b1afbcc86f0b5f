import { Context, Effect, Layer, Option } from "effect"
import { OperatorConfigs } from "../../../actors/configuration/OperatorConfigs.ts"
import { ReadSql } from "../../../actors/database/ReadSql.ts"
import { Access } from "../../../schema/api/Access.ts"
import { Authorization, Caller, type CallerShape } from "../../../schema/api/Middleware.ts"
import { Admitted, type AdmittedRule, admit } from "../authorization/Admission.ts"
import { Authenticator } from "../authorization/Authenticator.ts"
import { AttemptLimits } from "../../accounts/AttemptLimits.ts"
import { currentRequestId } from "../Exchange.ts"
import { HttpSettings } from "../HttpSettings.ts"
import { isRetired, retiredResponse } from "../RetiredRoutes.ts"

/** The caller of a route that asks nobody, or that reads its credential itself. */
const anonymous = (requestId: string): CallerShape => ({
  subject: "",
  credential: "session",
  credentialId: "",
  scopes: [],
  actor: { kind: "user" },
  requestId
})

/** Authenticates and authorises every route by its `Access` annotation. A route without one does not start. */
export const authorizationLayer = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const authenticator = yield* Authenticator
    const settings = yield* HttpSettings
    const sql = yield* ReadSql
    const limits = yield* AttemptLimits
    const operator = yield* OperatorConfigs
    // One by one: merging a context copies every service of the request.
    const admitted = (rule: AdmittedRule, name: string) =>
      admit(rule, name).pipe(
        Effect.provideService(Authenticator, authenticator),
        Effect.provideService(HttpSettings, settings),
        Effect.provideService(ReadSql, sql),
        Effect.provideService(OperatorConfigs, operator),
        Effect.provideService(AttemptLimits, limits)
      )
    return (httpEffect, { endpoint, group }) => {
      const rule = Context.getUnsafe(endpoint.annotations, Access)
      const name = `${group.identifier}.${endpoint.identifier}`
      if (rule.kind === "public" || rule.kind === "token") {
        return Effect.flatMap(currentRequestId, (requestId) =>
          Effect.provideService(httpEffect, Caller, anonymous(requestId))
        )
      }
      const admission = admitted(rule, name)
      const retired = isRetired(name)
      return Effect.gen(function* () {
        const request = yield* Effect.context<Effect.Services<typeof admission>>()
        const { ambient, caller } = yield* admission
        if (retired) return retiredResponse(caller.requestId)
        const recheck = Effect.asVoid(Effect.provideContext(admission, request))
        return yield* httpEffect.pipe(
          Effect.provideService(Caller, caller),
          Effect.provideService(Admitted, Option.some({ ambient, recheck }))
        )
      })
    }
  })
)
