import { Context, Schema } from "effect"
import { type BaseInstallConfig, emptyBaseConfig } from "../../../schema/manifest/OperatorPolicy.ts"
import { defaultProfile, ExecutionProfile } from "../../../schema/policy/ExecutionProfile.ts"
import { baseConfigFor, OperatorBaseConfig } from "../../../schema/policy/OperatorBaseConfig.ts"
import { Lifecycle } from "../../../schema/policy/PostApplyCheck.ts"
import { requestDigest } from "../../base/idempotency/RequestDigest.ts"

/**
 * The operator's profiles and base configurations. The limits on manifests are in `InstallPolicy`. `loadedAt` is an ISO 8601
 * time.
 */
export interface OperatorConfigsShape {
  readonly profiles: Readonly<Record<string, ExecutionProfile>>
  readonly baseConfigs: ReadonlyArray<OperatorBaseConfig>
  readonly loadedAt: string
}

/**
 * The operator's profiles and base configurations. They are read each time they are used, because a reload can change them.
 */
export const OperatorConfigs = Context.Reference<OperatorConfigsShape>(
  "svc/actors/ledger/configuration/OperatorConfigs",
  {
    defaultValue: () => ({ profiles: {}, baseConfigs: [], loadedAt: "1970-01-01T00:00:00.000Z" })
  }
)

const encodeProfile = Schema.encodeSync(Schema.toCodecJson(ExecutionProfile))

/** A profile and its digest. */
export interface NamedProfile {
  readonly name: string
  readonly digest: string
  readonly profile: ExecutionProfile
}

/** Returns the profile with this name, or `undefined` if the operator has not defined it. */
export const executionProfile = ({ profiles }: OperatorConfigsShape, name: string): ExecutionProfile | undefined =>
  name === defaultProfile ? {} : Object.hasOwn(profiles, name) ? profiles[name] : undefined

/** Like `executionProfile`, with the digest of the profile. */
export const profileOf = (operator: OperatorConfigsShape, name: string): NamedProfile | undefined => {
  const profile = executionProfile(operator, name)
  if (profile === undefined) return undefined
  const { description: _, ...rules } = profile
  return { name, digest: requestDigest([name, encodeProfile(rules)]), profile }
}

/** The base configuration that a configuration was compiled from, as stored with it. */
export const StoredOperatorConfig = Schema.Struct({
  /** Digest of the whole base configuration, so that svc detects any change to it. */
  digest: Schema.String,
  name: Schema.optionalKey(Schema.String),
  profile: Schema.String,
  /** The declared variables that the operator sets. */
  variables: Schema.Array(Schema.String),
  interfaceKeys: Schema.Array(Schema.String),
  lifecycle: Schema.optionalKey(Lifecycle)
})
export type StoredOperatorConfig = typeof StoredOperatorConfig.Type

/** A base configuration and its digest. */
export interface NamedBase {
  readonly config: OperatorBaseConfig
  readonly digest: string
}

const encodeBase = Schema.encodeSync(Schema.toCodecJson(OperatorBaseConfig))

export const digestOfBase = (config: OperatorBaseConfig): string => {
  const { description: _, name: __, ...rules } = config
  return requestDigest(encodeBase(rules))
}

/** Selects the base configuration for the module at a path in the repository at `url`. */
export const operatorBaseOf = (
  { baseConfigs }: OperatorConfigsShape,
  module: { readonly url: string; readonly path: string }
): NamedBase | undefined => {
  const config = baseConfigFor(baseConfigs, module)
  return config === undefined ? undefined : { config, digest: digestOfBase(config) }
}

/** Returns the part of the base configuration that the compiler uses. */
export const compilerBase = (base: NamedBase | undefined): BaseInstallConfig =>
  base === undefined
    ? emptyBaseConfig
    : {
        variables: Object.keys(base.config.variables ?? {}),
        ...(base.config.sourceBuild === undefined ? {} : { sourceBuild: base.config.sourceBuild }),
        interfaceBlueprints: base.config.interfaceBlueprints ?? [],
        bindingRequests: base.config.bindingRequests ?? [],
        outputAllowlist: base.config.outputAllowlist ?? []
      }

/**
 * Creates the record of a base configuration to store with a configuration. `declared` lists the names that the module declares.
 */
export const storedOperator = ({ config, digest }: NamedBase, declared: ReadonlySet<string>): StoredOperatorConfig => ({
  digest,
  ...(config.name === undefined ? {} : { name: config.name }),
  profile: config.profile ?? defaultProfile,
  variables: Object.keys(config.variables ?? {}).filter((name) => declared.has(name)),
  interfaceKeys: (config.interfaceBlueprints ?? []).map(({ key }) => key),
  ...(config.lifecycle === undefined ? {} : { lifecycle: config.lifecycle })
})

/** Returns the name of the execution profile that a configuration uses. */
export const profileNameOf = (operator: StoredOperatorConfig | undefined): string => operator?.profile ?? defaultProfile
