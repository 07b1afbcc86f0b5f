import { Schema } from "effect"
import { fieldRule, itemsBetween, lengthBetween, propertiesBetween, uniqueStrings } from "./FieldRule.ts"
import { Permission, token, VariableName } from "./TextRules.ts"

/** Maps slots to targets. Each kind of requirement has a closed set of slots, and at least one must be mapped. */
const targets = <Slot extends string>(slots: ReadonlyArray<Slot>) =>
  Schema.Record(Schema.Literals(slots), Schema.optionalKey(VariableName)).check(propertiesBetween(1, slots.length))

/**
 * The destination of values from the host: either OpenTofu variables of the module, or runtime bindings (entries of the module's
 * `env` variable), never both.
 */
const delivery = <Slot extends string>(slots: ReadonlyArray<Slot>) =>
  Schema.Struct({
    variables: Schema.optionalKey(targets(slots)),
    bindings: Schema.optionalKey(targets(slots))
  }).check(
    fieldRule<object>({
      code: "invalid_count",
      expected: "exactly one of variables or bindings",
      holds: (value) => Object.keys(value).length === 1,
      published: { minProperties: 1, maxProperties: 1 }
    })
  )

export const oidcSlots = ["accountsUrl", "issuerUrl", "clientId", "redirectUri"] as const
export type OidcSlot = (typeof oidcSlots)[number]

const isCanonicalCallback = (path: string) => {
  if (!path.startsWith("/") || path.startsWith("//") || /[?#\\]/.test(path)) return false
  if (path.split("/").some((segment) => segment === "." || segment === "..")) return false
  // Rejects a path that URL parsing would rewrite, because redirect URIs are compared byte for byte.
  const url = URL.parse(path, "https://callback.invalid")
  return url !== null && url.origin === "https://callback.invalid" && url.pathname === path
}

/** The path of an OIDC redirect URI, exactly as it is registered. */
export const CallbackPath = Schema.String.check(
  lengthBetween(1, 512),
  fieldRule({
    code: "invalid_path",
    expected: "an absolute URL path such as /auth/callback, without //, query, fragment, backslash, . or .. segments",
    holds: isCanonicalCallback,
    published: { pattern: "^/(?!/)[^?#\\\\]*$" }
  })
)

export const GeneratedSecretRequirement = Schema.Struct({
  kind: Schema.Literal("secret.generated"),
  bytes: Schema.optionalKey(
    Schema.Finite.check(
      fieldRule<number>({
        code: "invalid_number",
        expected: "an integer from 16 to 64",
        holds: (bytes) => Number.isInteger(bytes) && bytes >= 16 && bytes <= 64,
        published: { minimum: 16, maximum: 64, multipleOf: 1 }
      })
    )
  ),
  encoding: Schema.optionalKey(Schema.Literals(["hex", "base64url"])),
  deliver: delivery(["value"])
})
export type GeneratedSecretRequirement = typeof GeneratedSecretRequirement.Type

export const HttpEndpointRequirement = Schema.Struct({
  kind: Schema.Literal("http.endpoint"),
  deliver: delivery(["url", "subdomain", "routePattern"])
})
export type HttpEndpointRequirement = typeof HttpEndpointRequirement.Type

/** The published structure also allows `ownerSubject`, but no version accepts it. */
export const OidcRequirement = Schema.Struct({
  kind: Schema.Literal("identity.oidc"),
  callbackPath: CallbackPath,
  scopes: Schema.Array(token(128)).check(itemsBetween(1, 16), uniqueStrings),
  deliver: delivery([...oidcSlots, "ownerSubject"])
})
export type OidcRequirement = typeof OidcRequirement.Type

/** The way to deliver a permission to its holder. `none` delivers nothing. */
export const BindingDelivery = Schema.Struct({ type: token(128) })

export const Permissions = Schema.Array(Permission).check(itemsBetween(1, 16), uniqueStrings)

/** Since v2.2. Resolved after the plan, to exactly one Interface of the same Workspace. */
export const ConsumedInterfaceRequirement = Schema.Struct({
  kind: Schema.Literal("interface.consume"),
  key: token(128),
  interface: Schema.Struct({ type: token(256), version: token(256) }),
  permissions: Permissions,
  delivery: BindingDelivery
})
export type ConsumedInterfaceRequirement = typeof ConsumedInterfaceRequirement.Type

export const RequirementUntilV2_1 = Schema.Union([GeneratedSecretRequirement, HttpEndpointRequirement, OidcRequirement])

export const RequirementDeclaration = Schema.Union([...RequirementUntilV2_1.members, ConsumedInterfaceRequirement])
export type RequirementDeclaration = typeof RequirementDeclaration.Type
export type RequirementKind = RequirementDeclaration["kind"]

export type DeliveryLane = "variables" | "bindings"

/** A target that a requirement claims for one of its slots. */
export interface DeliveryTarget {
  readonly lane: DeliveryLane
  readonly slot: string
  readonly target: string
}

const lane = (name: DeliveryLane, slots: { readonly [slot: string]: string } | undefined): Array<DeliveryTarget> =>
  Object.entries(slots ?? {}).map(([slot, target]) => ({ lane: name, slot, target }))

/** Returns all targets that a requirement claims. `interface.consume` claims none. */
export const deliveryTargets = (requirement: RequirementDeclaration): ReadonlyArray<DeliveryTarget> =>
  requirement.kind === "interface.consume"
    ? []
    : [...lane("variables", requirement.deliver.variables), ...lane("bindings", requirement.deliver.bindings)]
