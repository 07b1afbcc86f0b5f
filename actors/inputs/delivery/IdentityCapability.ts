import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { CapsuleClients, type IdentityDelivery } from "../../access/issuer/CapsuleClients.ts"
import { type DeliveryRefused, refused } from "./DeliveryRefused.ts"
import type { EndpointValues } from "./Endpoints.ts"
import type { CapsuleId, RunId } from "../../../schema/records/Ids.ts"

/** The four values that an `identity.oidc` requirement delivers, by slot. None is a secret. */
export type IdentityValues = IdentityDelivery

const unavailable = () =>
  Effect.fail(
    refused(
      "identity_not_available",
      "The module needs an OpenID identity, and this service is no OpenID issuer. Nothing was executed."
    )
  )

/** The functions that delivering `identity.oidc` requires from an OpenID issuer. */
export class IdentityCapability extends Context.Service<
  IdentityCapability,
  {
    /** At plan time, derives the values from the endpoint and pins them to the Plan Run. Registers nothing. */
    readonly pin: (
      planRunId: RunId,
      capsuleId: CapsuleId,
      endpoint: EndpointValues
    ) => Effect.Effect<IdentityValues, DeliveryRefused>
    /** Checks that nothing pinned has changed, before the tool of the final apply starts. */
    readonly check: (planRunId: RunId, capsuleId: CapsuleId) => Effect.Effect<void, DeliveryRefused>
    /** Part of settling a successful final apply, in its transaction; repeatable. */
    readonly register: (
      planRunId: RunId | null,
      capsuleId: CapsuleId,
      introspectionSecret: Redacted.Redacted | undefined
    ) => Effect.Effect<void, DeliveryRefused>
    /** Part of a terminal destroy, in its transaction; repeatable. */
    readonly retire: (capsuleId: CapsuleId) => Effect.Effect<void>
  }
>()("svc/actors/inputs/delivery/IdentityCapability") {
  /** A service without an issuer: everything that needs an identity fails before it runs. */
  static readonly unavailable = Layer.succeed(IdentityCapability, {
    pin: unavailable,
    check: unavailable,
    register: () => Effect.void,
    retire: () => Effect.void
  })

  /** The issuer of this process if the composition includes one, otherwise none. */
  static readonly layer = Layer.unwrap(
    Effect.map(
      Effect.serviceOption(CapsuleClients),
      Option.match({
        onNone: () => IdentityCapability.unavailable,
        onSome: (clients) => {
          const refusing = <A>(effect: Effect.Effect<A, { readonly message: string }>) =>
            Effect.mapError(effect, ({ message }) => refused("identity_refused", message))
          return Layer.succeed(IdentityCapability, {
            pin: (planRunId, capsuleId, { postLogoutPaths, url }) =>
              Effect.flatMap(refusing(clients.pin(planRunId, capsuleId, url, postLogoutPaths)), (values) =>
                values === undefined
                  ? Effect.fail(refused("identity_refused", "The Capsule's configuration has changed. Plan again."))
                  : Effect.succeed(values)
              ),
            check: (planRunId, capsuleId) => refusing(clients.check(planRunId, capsuleId)),
            register: (planRunId, capsuleId, secret) => refusing(clients.register(planRunId, capsuleId, secret)),
            retire: clients.retire
          })
        }
      })
    )
  )
}
