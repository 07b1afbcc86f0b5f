import type { Schema } from "effect"
import type { ProviderBlock } from "./CredentialDelivery.ts"
import type { LocalModule } from "./RunJob.ts"

/**
 * The tool merges override files in the order of their names and the last file wins: this name sorts after every name that a
 * repository may use.
 */
export const overrideFileName = "~capsule_override.tf.json"

/** Overrides can only change what exists, so the runner's own variables need a file that is not an override. */
export const variableFileName = "~capsule_variables.tf.json"

export const stateFileName = "terraform.tfstate"

const isOverrideFile = (name: string) => /^(?:.*_)?override\.(?:tf|tofu)(?:\.json)?$/.test(name)

/**
 * The reason why a file in the root module conflicts with the runner's own files; undefined if it does not. An override that
 * sorts after the runner's override would win over it, and a file with the same name but another extension would hide it.
 */
export const reservedFileProblem = (name: string): string | undefined =>
  name.startsWith("~capsule_") || (isOverrideFile(name) && name >= "~")
    ? `The module holds the file ${JSON.stringify(name)}, a name that is reserved for the runner. Rename it in the repository.`
    : undefined

/** Files in a root module that would add values or state nobody has reviewed; the runner removes them before the tool starts. */
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
 * Replaces the module's own backend or cloud block with a local state file, and adds provider arguments. Where only child modules
 * use a provider's name, the root module needs a requirement that defines the name: otherwise it would refer to another provider
 * with that name. The module's own entry is never repeated, because a repetition would drop its version constraint.
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
 * The manifest of installed modules, as the tool's own installer would write it; given this manifest, the tool fetches no
 * modules.
 */
export const moduleManifest = (modules: ReadonlyArray<LocalModule>): Schema.Json => ({
  Modules: [
    { Key: "", Source: "", Dir: "." },
    ...modules.map(({ key, source, dir }) => ({ Key: key, Source: source, Dir: dir }))
  ]
})
