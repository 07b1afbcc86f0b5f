import type { InputToSupply } from "./ExportedInputs.ts"

/** A provider that needs credentials, and how svc delivers them. */
export interface ExportedProvider {
  readonly provider: string
  /** Reference to the provider configuration in the module: the local name, with the alias after a dot. */
  readonly name: string
  readonly environment: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
}

/** Facts for the README. Contains no values of inputs. */
export interface ReadmeFacts {
  readonly capsule: string
  readonly isReleased: boolean
  /** Folder of the root module in the archive. */
  readonly folder: string
  readonly source: { readonly url: string; readonly ref: string; readonly commit: string }
  readonly tool: { readonly name: "opentofu" | "terraform" | undefined; readonly version: string | undefined }
  readonly isPartial: boolean
  readonly hasInputs: boolean
  readonly toSupply: ReadonlyArray<InputToSupply>
  readonly providers: ReadonlyArray<ExportedProvider>
  readonly hasLock: boolean
  /** True if a file in the folder overrides a backend or sets provider arguments. */
  readonly hasOverride: boolean
  readonly hasBuild: boolean
  /** Symbolic links and submodules in the commit. The archive omits these entries, because svc does not store them. */
  readonly omitted: ReadonlyArray<string>
}

export const inputsFileName = "terraform.tfvars.json"
export const exportOverrideFileName = "~export_override.tf.json"

const supplied: Readonly<Record<InputToSupply["reason"], string>> = {
  secret: "secret",
  generated:
    "secret; svc made it for this Capsule, so it can only be read from the state, where the module stored it there",
  missing: "svc has no value for it any more"
}

const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)

const programs = { opentofu: ["OpenTofu", "tofu"], terraform: ["Terraform", "terraform"] } as const

const commands = (folder: string, program: string) =>
  ["```sh", `cd ${quoted(folder)}`, `${program} init`, `${program} plan`, "```"].join("\n")

const toolText = ({ folder, tool }: ReadmeFacts) => {
  const [title, program] = programs[tool.name ?? "opentofu"]
  const [otherTitle, other] = programs[tool.name === "terraform" ? "opentofu" : "terraform"]
  const wrote = tool.version === undefined ? title : `${title} ${tool.version}`
  const minimum = tool.version === undefined ? "" : ` Use that version or a newer one.`
  return [
    `The state was last written by ${wrote}.${minimum}`,
    commands(folder, program),
    `With ${otherTitle} the commands are the same:`,
    commands(folder, other),
    `The two tools name the registry of their providers differently. If \`${other} init\` does not find a provider of the state, \`${other} state replace-provider\` renames it.`
  ].join("\n\n")
}

const supplyText = (toSupply: ReadonlyArray<InputToSupply>) =>
  toSupply.length === 0
    ? "The module needs no input besides those in the archive."
    : [
        "The archive leaves these inputs out. Without them the plan asks for a value, or takes the module's default and shows changes:",
        toSupply.map(({ name, reason }) => `- \`${name}\` (${supplied[reason]})`).join("\n"),
        "Give them by environment, or in a file that you keep apart:",
        ["```sh", ...toSupply.map(({ name }) => `export TF_VAR_${name}=...`), "```"].join("\n")
      ].join("\n\n")

const providerText = (providers: ReadonlyArray<ExportedProvider>) =>
  providers.length === 0
    ? "svc gave no credentials to the providers of the module."
    : [
        "svc gave these credentials to the providers. The values are not in the archive:",
        providers
          .map(({ environment, files, name, provider }) => {
            const given = [...environment.map((one) => `\`${one}\``), ...files.map((one) => `the file \`${one}\``)]
            return `- \`${provider}\` (\`${name}\`): ${given.length === 0 ? "none" : given.join(", ")}`
          })
          .join("\n"),
        "Names are those of environment variables. Where several configurations of one provider have credentials of their own, give them as arguments of each provider block instead."
      ].join("\n\n")

const contents = (facts: ReadmeFacts) =>
  [
    `- \`${facts.folder}/terraform.tfstate\`: the state, in the clear`,
    ...(facts.hasInputs ? [`- \`${facts.folder}/${inputsFileName}\`: the inputs that are not secret`] : []),
    ...(facts.hasLock ? [`- \`${facts.folder}/.terraform.lock.hcl\`: the providers of the last apply`] : []),
    ...(facts.hasOverride
      ? [
          `- \`${facts.folder}/${exportOverrideFileName}\`: keeps the state in this folder in place of the module's backend, and sets the provider arguments that svc has set. To move the state into a backend, delete the block \`terraform\` in it and run \`init -migrate-state\`.`
        ]
      : []),
    `- everything else below \`module\`: the files of commit \`${facts.source.commit}\` (\`${facts.source.ref}\` of ${facts.source.url})${facts.hasBuild ? ", with what its source build made" : ""}. States and variable files in the module's folder are left out, because svc never used them.`,
    ...(facts.omitted.length === 0
      ? []
      : [`- not here are links and submodules of the commit: ${facts.omitted.map((path) => `\`${path}\``).join(", ")}`])
  ].join("\n")

const releaseText = ({ isReleased }: ReadmeFacts) =>
  isReleased
    ? "The Capsule was released: svc does not manage this infrastructure any more."
    : 'svc still manages this infrastructure. Two places that apply to it overwrite each other, so first see a plan without changes here, then release the Capsule in svc (its settings, reason "moved elsewhere"). A release destroys nothing. Should svc apply anything before that, this copy is outdated: export again.'

/** Writes the README, which explains how to continue without svc, using only the tool. */
export const exportReadme = (facts: ReadmeFacts): string =>
  `${[
    `# ${facts.capsule}`,
    "This folder holds what the Capsule consists of, to go on without svc. **The state holds the secrets of the infrastructure in the clear: keep this folder as you keep a password.**",
    "## Go on",
    toolText(facts),
    facts.isPartial
      ? "The last apply did not finish, so expect the plan to show what is left to do."
      : "The plan shows no changes, unless the infrastructure, an Output of another Capsule, or a value below has changed since the last apply.",
    "## Inputs to supply",
    supplyText(facts.toSupply),
    "## Credentials",
    providerText(facts.providers),
    "## What is in the archive",
    contents(facts),
    "## Who manages it",
    releaseText(facts)
  ].join("\n\n")}\n`
