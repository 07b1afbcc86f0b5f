import { Effect, FileSystem, Layer, Result, Schema, SchemaIssue } from "effect"
import { InstallPolicy } from "../../actors/capsule/InstallPolicy.ts"
import { OAuthHelperDeclarations } from "../../actors/connection/OAuthHelperDeclaration.ts"
import { EndpointAssignment, EndpointPolicy } from "../../actors/delivery/EndpointPolicy.ts"
import { Prices, PriceTable } from "../../actors/run/PriceTable.ts"
import { decodeJson } from "../../schema/json/JsonDocument.ts"
import { repositoryFileLimits } from "../../schema/json/JsonLimits.ts"
import {
  AllowedPermission,
  defaultOperatorPolicy,
  emptyBaseConfig,
  RequirementKindName
} from "../../schema/manifest/OperatorPolicy.ts"
import { ManifestVersion } from "../../schema/manifest/RepositoryManifest.ts"
import type { Settings } from "../settings/Settings.ts"
import { oauthHelpers } from "./OAuthHelpers.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"

/**
 * The operator's policy file: ceilings over manifests, the addresses that Capsules are given, the
 * prices of resources, and the ways to make Connections. What is absent is default.
 */
export const OperatorPolicyFile = Schema.Struct({
  repositoryInstallUx: Schema.optionalKey(
    Schema.Struct({
      requiredManifestVersion: Schema.optionalKey(ManifestVersion),
      allowedRequirementKinds: Schema.optionalKey(Schema.Array(RequirementKindName)),
      allowedOidcScopes: Schema.optionalKey(Schema.Array(Schema.String)),
      allowedOidcCallbackPaths: Schema.optionalKey(Schema.Array(Schema.String)),
      runtimeOidcBindings: Schema.optionalKey(Schema.Boolean),
      allowedPermissions: Schema.optionalKey(Schema.Array(AllowedPermission))
    })
  ),
  endpoints: Schema.optionalKey(Schema.Array(EndpointAssignment)),
  prices: Schema.optionalKey(PriceTable),
  oauthHelpers: Schema.optionalKey(OAuthHelperDeclarations)
})
export type OperatorPolicyFile = typeof OperatorPolicyFile.Type

const decodePolicy = Schema.decodeUnknownEffect(OperatorPolicyFile, { errors: "all", onExcessProperty: "error" })
const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

/** Reads a policy file. Fails with `SettingsRefused`: a policy that is not understood as a whole is not applied in part. */
export const readOperatorPolicy = Effect.fn("readOperatorPolicy")(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  const refuse = (reason: string) => new SettingsRefused({ message: `The policy file ${file} ${reason}` })
  const bytes = yield* Effect.mapError(files.readFile(file), () => refuse("cannot be read."))
  const json = yield* Effect.fromResult(
    Result.mapError(decodeJson(bytes, repositoryFileLimits), ({ message }) => refuse(`is not valid. ${message}`))
  )
  return yield* Effect.mapError(decodePolicy(json), ({ issue }) => {
    const faults = formatIssues(issue).issues.map(({ message, path }) => `${(path ?? []).join(".")}: ${message}`)
    return refuse(`is not valid. ${faults.join("; ")}`)
  })
})

/** The operator's ceilings and assignments from the policy file, where the settings name one. */
export const operatorPolicy = (settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const {
        endpoints = [],
        oauthHelpers: helpers = [],
        prices,
        repositoryInstallUx = {}
      }: OperatorPolicyFile = settings.policyFile === undefined ? {} : yield* readOperatorPolicy(settings.policyFile)
      return Layer.mergeAll(
        Layer.succeed(InstallPolicy, {
          policy: { ...defaultOperatorPolicy, ...repositoryInstallUx },
          base: emptyBaseConfig
        }),
        Layer.succeed(EndpointPolicy, { endpoints }),
        yield* oauthHelpers(helpers, settings.gitAllowOrigins),
        Layer.succeed(Prices, { table: prices })
      )
    })
  )
