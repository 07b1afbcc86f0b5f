import type { Schema } from "effect"
import type { ProviderBlock } from "./CredentialDelivery.ts"
import type { LocalModule } from "./RunJob.ts"

/**
 * Name of the runner's override file. The tool merges override files in alphabetical order, and the last file takes
 * precedence, so this name sorts after every name that a repository may use.
 */
export const overrideFileName = "~capsule_override.tf.json"

/**
 * The file that declares the runner's own variables. It cannot be an override file, because overrides can only change
 * existing blocks.
 */
export const variableFileName = "~capsule_variables.tf.json"

export const stateFileName = "terraform.tfstate"

const isOverrideFile = (name: string) => /^(?:.*_)?override\.(?:tf|tofu)(?:\.json)?$/.test(name)

/**
 * Returns the reason why a file in the root module conflicts with the runner's own files, or `undefined`. An override that
 * sorts later would take precedence over the runner's override, and a file with the same name but another extension would
 * hide the runner's file.
 */
export const reservedFileProblem = (name: string): string | undefined =>
  name.startsWith("~capsule_") || (isOverrideFile(name) && name >= "~")
    ? `The module holds the file ${JSON.stringify(name)}, a name that is reserved for the runner. Rename it in the repository.`
    : undefined

/** Files in a root module that would add unreviewed values or state. The runner removes them before the tool starts. */
export const isAmbientFile = (name: string): boolean =>
  /\.auto\.tfvars(?:\.json)?$/.test(name) ||
  /^terraform\.tfvars(?:\.json)?$/.test(name) ||
  /^(?:terraform|errored)\.tfstate/.test(name) ||
  name === ".terraform" ||
  name === "terraform.d" ||
  name === ".terraformrc" ||
  name === "terraform.rc" ||
  name === ".tofurc" ||
  name === ".terraform.tfstate.lock.info"

/**
 * Replaces the module's backend or cloud block with a local state file, and adds provider arguments. If only child modules
 * use a provider's name, the root module needs a requirement for that name; otherwise the name would refer to another
 * provider. The module's own requirement is never repeated, because that would drop its version constraint.
 */
export const overrideDocument = (blocks: ReadonlyArray<ProviderBlock>): Schema.Json => {
  const providers = new Map<string, Array<Schema.Json>>()
  for (const { moduleLocalName, alias, body } of blocks) {
    const bodies = providers.get(moduleLocalName) ?? []
    providers.set(moduleLocalName, [...bodies, alias === undefined ? body : { alias, ...body }])
  }
  const inherited = blocks.filter((block) => block.inherited)
  const named = Object.fromEntries(
    inherited.map(({ moduleLocalName, provider }) => [moduleLocalName, { source: provider }])
  )
  return {
    terraform: {
      backend: { local: { path: stateFileName } },
      ...(inherited.length > 0 ? { required_providers: named } : {})
    },
    ...(providers.size > 0 ? { provider: Object.fromEntries(providers) } : {})
  }
}

export const variableDocument = (names: ReadonlyArray<string>): Schema.Json => ({
  variable: Object.fromEntries(names.map((name) => [name, { type: "string", sensitive: true }]))
})

/**
 * Creates the manifest of installed modules that the tool's installer would write. If this manifest exists, the tool fetches
 * no modules.
 */
export const moduleManifest = (modules: ReadonlyArray<LocalModule>): Schema.Json => ({
  Modules: [
    { Key: "", Source: "", Dir: "." },
    ...modules.map(({ key, source, dir }) => ({ Key: key, Source: source, Dir: dir }))
  ]
})
