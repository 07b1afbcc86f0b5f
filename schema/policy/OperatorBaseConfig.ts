import { Array as Arr, Order, Schema } from "effect"
import { readServerAddress, isAddress, type ServerAddress } from "../git/ServerAddress.ts"
import { InterfaceBindingRequest, InterfaceBlueprint, PublicOutput } from "../manifest/CompiledInstall.ts"
import { RelativeFolder } from "../manifest/RelativePath.ts"
import { SourceBuild } from "../manifest/SourceBuildDeclaration.ts"
import { GivenCredentialOrigin } from "../records/CredentialOrigin.ts"
import { displayText } from "../records/Primitives.ts"
import { ProfileName } from "./ExecutionProfile.ts"
import { Lifecycle } from "./PostApplyCheck.ts"

const variableName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/, { description: "the name of a module variable" })
)

const repositoryPath = Schema.String.check(
  Schema.isMaxLength(1024),
  Schema.isPattern(/^\/?[^/\s?#\\*;]+(?:\/[^/\s?#\\*;]+)*\/?$/, {
    description: "the path of a repository below the origin, such as team/app.git, or a folder of repositories"
  })
)

/**
 * The operator's declarations for the modules of a repository. They apply before any manifest in the repository is read.
 * - `origin`: scheme, host and port of the Git server, with an optional path prefix
 * - `path`: a repository below the origin, or a folder of repositories; every repository if absent; a trailing `.git` is ignored
 * - `module`: path of the module in the repository, `.` for its root; every module if absent
 * - `variables`: values of variables, which then cannot be set elsewhere; no secrets
 * - `profile`: execution profile of every Run
 */
export const OperatorBaseConfig = Schema.Struct({
  name: Schema.optionalKey(displayText(80)),
  description: Schema.optionalKey(displayText(500)),
  origin: GivenCredentialOrigin,
  path: Schema.optionalKey(repositoryPath),
  module: Schema.optionalKey(RelativeFolder),
  profile: Schema.optionalKey(ProfileName),
  variables: Schema.optionalKey(Schema.Record(variableName, Schema.Json)),
  sourceBuild: Schema.optionalKey(SourceBuild),
  interfaceBlueprints: Schema.optionalKey(Schema.Array(InterfaceBlueprint).check(Schema.isMaxLength(32))),
  bindingRequests: Schema.optionalKey(Schema.Array(InterfaceBindingRequest).check(Schema.isMaxLength(32))),
  outputAllowlist: Schema.optionalKey(Schema.Array(PublicOutput).check(Schema.isMaxLength(64))),
  lifecycle: Schema.optionalKey(Lifecycle)
})
export type OperatorBaseConfig = typeof OperatorBaseConfig.Type

const bare = (segment: string): string => segment.replace(/\.git$/, "")

const addressOf = (text: string): ServerAddress | undefined => {
  const address = readServerAddress(text)
  return isAddress(address) ? address : undefined
}

const prefixOf = ({ origin, path = "" }: Pick<OperatorBaseConfig, "origin" | "path">) => {
  const address = addressOf(origin)
  if (address === undefined) return undefined
  return { origin: address.origin, segments: [...address.segments, ...path.split("/").filter((part) => part !== "")] }
}

/** Returns a string that is the same for entries that cover the same modules. */
export const placeOf = (config: Pick<OperatorBaseConfig, "origin" | "path" | "module">): string => {
  const prefix = prefixOf(config)
  const segments = prefix?.segments ?? []
  return JSON.stringify([prefix?.origin, segments.map(bare), config.module ?? null])
}

const covers = (config: OperatorBaseConfig, module: { readonly url: string; readonly path: string }): boolean => {
  const prefix = prefixOf(config)
  const address = addressOf(module.url)
  if (prefix === undefined || address === undefined || prefix.origin !== address.origin) return false
  if (config.module !== undefined && config.module !== module.path) return false
  return prefix.segments.every((segment, index) => {
    const given = address.segments[index]
    return given !== undefined && bare(given) === bare(segment)
  })
}

/** The order of the entries: entries with a module first, then entries with a longer path. */
const mostSpecific = Order.flip(
  Order.mapInput(
    Order.Number,
    (config: OperatorBaseConfig) =>
      (config.module === undefined ? 0 : 10_000) + (prefixOf(config)?.segments.length ?? 0)
  )
)

/** Returns the entry that applies to a module, if any. `path` is the module's path in the repository at `url`. */
export const baseConfigFor = (
  configs: ReadonlyArray<OperatorBaseConfig>,
  module: { readonly url: string; readonly path: string }
): OperatorBaseConfig | undefined =>
  Arr.sort(
    configs.filter((config) => covers(config, module)),
    mostSpecific
  )[0]
