import { Schema } from "effect"
import { FeatureDeclaration } from "./FeatureDeclaration.ts"
import { InputRole, InputSourceKind, Label } from "./InputDeclaration.ts"
import { InputType } from "./InputType.ts"
import { BindingRequest, InterfaceDeclaration, OutputType } from "./InterfaceDeclaration.ts"
import { ManifestDiagnostic } from "./ManifestDiagnostic.ts"
import { InstallPins } from "./ModuleFacts.ts"
import { ManifestVersion } from "./RepositoryManifest.ts"
import { ConsumedInterfaceRequirement } from "./RequirementDeclaration.ts"
import { SourceBuild } from "./SourceBuildDeclaration.ts"

/**
 * A variable that can be set. `origin` records where it was declared. If the Capsule has a manifest, later changes may set
 * only `manifest` inputs whose source is `user`. `secret` values are never stored in plain text.
 */
export const CompiledInput = Schema.Struct({
  name: Schema.String,
  type: InputType,
  origin: Schema.Literals(["manifest", "generic"]),
  source: InputSourceKind,
  required: Schema.Boolean,
  hasDefault: Schema.Boolean,
  secret: Schema.Boolean,
  advanced: Schema.Boolean,
  label: Schema.optionalKey(Label),
  role: Schema.optionalKey(InputRole),
  format: Schema.optionalKey(Schema.String),
  helper: Schema.optionalKey(Label),
  placeholder: Schema.optionalKey(Schema.String)
})
export type CompiledInput = typeof CompiledInput.Type

/** The module variable whose entries are the runtime bindings. Its type is a map of strings. */
export const bindingEnvironmentVariable = "env"

/** The destination of a slot's value: the variable called `name`, or the entry called `name` in the variable `env`. */
export const CompiledDelivery = Schema.Struct({
  slot: Schema.String,
  lane: Schema.Literals(["variable", "binding"]),
  name: Schema.String
})
export type CompiledDelivery = typeof CompiledDelivery.Type

const deliveries = Schema.Array(CompiledDelivery)

export const CompiledRequirement = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("secret.generated"),
    bytes: Schema.Int,
    encoding: Schema.Literals(["hex", "base64url"]),
    deliveries
  }),
  Schema.Struct({ kind: Schema.Literal("http.endpoint"), deliveries }),
  Schema.Struct({
    kind: Schema.Literal("identity.oidc"),
    callbackPath: Schema.String,
    scopes: Schema.Array(Schema.String),
    /** The variable whose planned value becomes the origin of the redirect URI. */
    endpointVariable: Schema.String,
    deliveries
  }),
  ConsumedInterfaceRequirement
])
export type CompiledRequirement = typeof CompiledRequirement.Type

/** An Interface that svc materialises after an apply. */
export const InterfaceBlueprint = Schema.Struct({
  key: InterfaceDeclaration.fields.key,
  name: InterfaceDeclaration.fields.name,
  spec: InterfaceDeclaration.fields.spec
})
export type InterfaceBlueprint = typeof InterfaceBlueprint.Type

/** A one-time proposal that uses this key to bind the installer of the Capsule to the Interface. */
export const InterfaceBindingRequest = Schema.Struct({ interfaceKey: Schema.String, ...BindingRequest.fields })
export type InterfaceBindingRequest = typeof InterfaceBindingRequest.Type

/** An Output that may be published, and its public type. */
export const PublicOutput = Schema.Struct({ name: Schema.String, type: OutputType })
export type PublicOutput = typeof PublicOutput.Type

/** `adopted` if the manifest was adopted as a whole. Otherwise the reason why the manifest has no effect. */
export const ManifestAssistance = Schema.Literals(["adopted", "absent", "invalid", "not_declared", "rejected"])
export type ManifestAssistance = typeof ManifestAssistance.Type

/** The presentation and requirements stored in an InstallConfig. Plan and apply read nothing else from the manifest. */
export const CompiledInstall = Schema.Struct({
  origin: Schema.Literals(["repository_manifest", "generic"]),
  assistance: ManifestAssistance,
  manifestVersion: Schema.optionalKey(ManifestVersion),
  pins: InstallPins,
  inputs: Schema.Array(CompiledInput),
  requires: Schema.Array(CompiledRequirement),
  features: Schema.Array(FeatureDeclaration),
  interfaceBlueprints: Schema.Array(InterfaceBlueprint),
  bindingRequests: Schema.Array(InterfaceBindingRequest),
  outputAllowlist: Schema.Array(PublicOutput),
  sourceBuild: Schema.optionalKey(
    Schema.Struct({ origin: Schema.Literals(["operator", "repository"]), proposal: SourceBuild })
  ),
  /** Parts of the manifest that this install does not use; see `diagnostics`. */
  dropped: Schema.optionalKey(Schema.Array(Schema.String)),
  diagnostics: Schema.Array(ManifestDiagnostic)
})
export type CompiledInstall = typeof CompiledInstall.Type
