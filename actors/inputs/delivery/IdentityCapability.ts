import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { CapsuleClients, type IdentityDelivery } from "../../access/issuer/CapsuleClients.ts"
import { type DeliveryRefused, refused } from "./DeliveryRefused.ts"
import type { EndpointValues } from "./Endpoints.ts"
import type { CapsuleId, RunId } from "../../../schema/records/Ids.ts"

/** The four values of an `identity.oidc` requirement, keyed by slot. None of them is secret. */
export type IdentityValues = IdentityDelivery

const unavailable = () =>
  Effect.fail(
    refused(
      "identity_not_available",
      "The module needs an OpenID identity, and this service is no OpenID issuer. Nothing was executed."
    )
  )

/** The part of an OpenID issuer that is needed to deliver `identity.oidc`. */
export class IdentityCapability extends Context.Service<
  IdentityCapability,
  {
    /** Derives the values from the endpoint, and pins them to the plan. Registers nothing. */
    readonly pin: (
      planRunId: RunId,
      capsuleId: CapsuleId,
      endpoint: EndpointValues
    ) => Effect.Effect<IdentityValues, DeliveryRefused>
    /** Checks that no pinned value has changed. Called before the apply's tool starts. */
    readonly check: (planRunId: RunId, capsuleId: CapsuleId) => Effect.Effect<void, DeliveryRefused>
    /** Registers the identity in the transaction that settles a successful apply. Repeating the call changes nothing. */
    readonly register: (
      planRunId: RunId | null,
      capsuleId: CapsuleId,
      introspectionSecret: Redacted.Redacted | undefined
    ) => Effect.Effect<void, DeliveryRefused>
    /** Retires the identity in the transaction that settles a destroy. Repeating the call changes nothing. */
    readonly retire: (capsuleId: CapsuleId) => Effect.Effect<void>
  }
>()("svc/actors/inputs/delivery/IdentityCapability") {
  /** Implementation for an installation without an issuer. Fails before the tool runs if a requirement needs an identity. */
  static readonly unavailable = Layer.succeed(IdentityCapability, {
    pin: unavailable,
    check: unavailable,
    register: () => Effect.void,
    retire: () => Effect.void
  })

  /** Uses the issuer of this process, if there is one. */
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
