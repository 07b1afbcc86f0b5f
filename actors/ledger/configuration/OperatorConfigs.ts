import { Context, Schema } from "effect"
import { type BaseInstallConfig, emptyBaseConfig } from "../../../schema/manifest/OperatorPolicy.ts"
import { defaultProfile, ExecutionProfile } from "../../../schema/policy/ExecutionProfile.ts"
import { baseConfigFor, OperatorBaseConfig } from "../../../schema/policy/OperatorBaseConfig.ts"
import { Lifecycle } from "../../../schema/policy/PostApplyCheck.ts"
import { requestDigest } from "../../base/idempotency/RequestDigest.ts"

/** The operator's definitions, apart from the ceilings on manifests; `loadedAt` is when they were loaded (ISO 8601). */
export interface OperatorConfigsShape {
  readonly profiles: Readonly<Record<string, ExecutionProfile>>
  readonly baseConfigs: ReadonlyArray<OperatorBaseConfig>
  readonly loadedAt: string
}

/** The operator's profiles and base configurations. Read at the point of use, since a reload changes them. */
export const OperatorConfigs = Context.Reference<OperatorConfigsShape>(
  "svc/actors/ledger/configuration/OperatorConfigs",
  {
    defaultValue: () => ({ profiles: {}, baseConfigs: [], loadedAt: "1970-01-01T00:00:00.000Z" })
  }
)

const encodeProfile = Schema.encodeSync(Schema.toCodecJson(ExecutionProfile))

/** A profile with its digest. */
export interface NamedProfile {
  readonly name: string
  readonly digest: string
  readonly profile: ExecutionProfile
}

/** The profile with that name; `undefined` if the operator has not defined it. */
export const executionProfile = ({ profiles }: OperatorConfigsShape, name: string): ExecutionProfile | undefined =>
  name === defaultProfile ? {} : Object.hasOwn(profiles, name) ? profiles[name] : undefined

/** The profile with that name and its digest; `undefined` if the operator has not defined it. */
export const profileOf = (operator: OperatorConfigsShape, name: string): NamedProfile | undefined => {
  const profile = executionProfile(operator, name)
  if (profile === undefined) return undefined
  const { description: _, ...rules } = profile
  return { name, digest: requestDigest([name, encodeProfile(rules)]), profile }
}

/** A configuration's record of the base configuration it was compiled with. */
export const StoredOperatorConfig = Schema.Struct({
  /** Covers the whole base configuration: any change to it results in a different digest. */
  digest: Schema.String,
  name: Schema.optionalKey(Schema.String),
  profile: Schema.String,
  /** The variables set by the operator, among those that the module declares. */
  variables: Schema.Array(Schema.String),
  interfaceKeys: Schema.Array(Schema.String),
  lifecycle: Schema.optionalKey(Lifecycle)
})
export type StoredOperatorConfig = typeof StoredOperatorConfig.Type

/** A base configuration with its digest. */
export interface NamedBase {
  readonly config: OperatorBaseConfig
  readonly digest: string
}

const encodeBase = Schema.encodeSync(Schema.toCodecJson(OperatorBaseConfig))

export const digestOfBase = (config: OperatorBaseConfig): string => {
  const { description: _, name: __, ...rules } = config
  return requestDigest(encodeBase(rules))
}

/** The base configuration that applies to a module, by its path in the repository at `url`. */
export const operatorBaseOf = (
  { baseConfigs }: OperatorConfigsShape,
  module: { readonly url: string; readonly path: string }
): NamedBase | undefined => {
  const config = baseConfigFor(baseConfigs, module)
  return config === undefined ? undefined : { config, digest: digestOfBase(config) }
}

/** The part of the base configuration that the compiler uses. */
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

/** A configuration's record of the base configuration; `declared` contains the module's declared names. */
export const storedOperator = ({ config, digest }: NamedBase, declared: ReadonlySet<string>): StoredOperatorConfig => ({
  digest,
  ...(config.name === undefined ? {} : { name: config.name }),
  profile: config.profile ?? defaultProfile,
  variables: Object.keys(config.variables ?? {}).filter((name) => declared.has(name)),
  interfaceKeys: (config.interfaceBlueprints ?? []).map(({ key }) => key),
  ...(config.lifecycle === undefined ? {} : { lifecycle: config.lifecycle })
})

/** The profile of a configuration, by name. */
export const profileNameOf = (operator: StoredOperatorConfig | undefined): string => operator?.profile ?? defaultProfile
