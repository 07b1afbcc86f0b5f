import { Schema } from "effect"

/**
 * A requirement cannot be delivered or has changed since the review. At this point, nothing has been executed. `message`
 * contains the names of requirements and variables, but never a value.
 */
export class DeliveryRefused extends Schema.TaggedError<DeliveryRefused>()("DeliveryRefused", {
  code: Schema.Literals([
    "endpoint_not_available",
    "endpoint_ambiguous",
    "endpoint_invalid",
    "identity_not_available",
    "identity_refused",
    "delivery_target_missing",
    "delivery_drift",
    "interface_not_resolved",
    "interface_ambiguous",
    "interface_binding_revoked",
    "interface_binding_conflict",
    "interface_permission_not_allowed",
    "interface_principal_missing"
  ]),
  message: Schema.String
}) {}

export const refused = (code: DeliveryRefused["code"], message: string) => new DeliveryRefused({ code, message })
