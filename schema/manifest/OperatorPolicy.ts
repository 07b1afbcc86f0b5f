import { Schema } from "effect"
import { InterfaceBlueprint, InterfaceBindingRequest, PublicOutput } from "./CompiledInstall.ts"
import { ManifestVersion } from "./RepositoryManifest.ts"
import { SourceBuild } from "./SourceBuildDeclaration.ts"

export const RequirementKindName = Schema.Literals([
  "secret.generated",
  "http.endpoint",
  "identity.oidc",
  "interface.consume"
])

/** A permission that may be granted, and the only permitted way to deliver it. */
export const AllowedPermission = Schema.Struct({ permission: Schema.String, delivery: Schema.String })
export type AllowedPermission = typeof AllowedPermission.Type

/**
 * The operator's limits for what a manifest may request (`policy.repositoryInstallUx` of an InstallConfig). Without a list of
 * OIDC scopes, no identity is granted. Without a list of callback paths, the manifest chooses the path. `runtimeOidcBindings`
 * allows a v2.4 manifest to receive its OIDC values as runtime bindings.
 */
export const OperatorPolicy = Schema.Struct({
  requiredManifestVersion: Schema.optionalKey(ManifestVersion),
  allowedRequirementKinds: Schema.Array(RequirementKindName),
  allowedOidcScopes: Schema.optionalKey(Schema.Array(Schema.String)),
  allowedOidcCallbackPaths: Schema.optionalKey(Schema.Array(Schema.String)),
  runtimeOidcBindings: Schema.Boolean,
  allowedPermissions: Schema.Array(AllowedPermission)
})
export type OperatorPolicy = typeof OperatorPolicy.Type

/** The limits that apply if the operator has configured none. */
export const defaultOperatorPolicy: OperatorPolicy = {
  allowedRequirementKinds: RequirementKindName.literals,
  runtimeOidcBindings: false,
  allowedPermissions: [
    { permission: "ui.open", delivery: "none" },
    { permission: "mcp.invoke", delivery: "oauth2" }
  ]
}

/**
 * The operator's base configuration for a module. Proposals are added to it, and conflicting proposals are rejected. `variables`
 * lists the names of the variables that the operator sets.
 */
export const BaseInstallConfig = Schema.Struct({
  variables: Schema.Array(Schema.String),
  sourceBuild: Schema.optionalKey(SourceBuild),
  interfaceBlueprints: Schema.Array(InterfaceBlueprint),
  bindingRequests: Schema.Array(InterfaceBindingRequest),
  outputAllowlist: Schema.Array(PublicOutput)
})
export type BaseInstallConfig = typeof BaseInstallConfig.Type

export const emptyBaseConfig: BaseInstallConfig = {
  variables: [],
  interfaceBlueprints: [],
  bindingRequests: [],
  outputAllowlist: []
}
