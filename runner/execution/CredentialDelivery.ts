import { posix } from "node:path"
import { Redacted, Result } from "effect"
import type { Schema } from "effect"
import { credentialFileNameProblem, longestCredentialFile } from "./CredentialFileName.ts"
import { environmentNameProblem, providedNameProblem } from "./EnvironmentNames.ts"
import { literalTemplate } from "./LiteralTemplate.ts"
import type { CredentialFile, ProviderCredentials } from "./RunJob.ts"
import type { Secret } from "../redaction/SecretRule.ts"

/** Arguments that the runner adds to one provider configuration of the root module, as an override block. */
export interface ProviderBlock {
  readonly provider: string
  readonly moduleLocalName: string
  readonly alias: string | undefined
  readonly inherited: boolean
  readonly body: Readonly<Record<string, Schema.Json>>
}

/** A credential file to write. `path` is relative to the run's own folder. */
export interface DeliveredFile {
  readonly path: string
  readonly content: Redacted.Redacted<Uint8Array>
}

/**
 * The variables, files and provider arguments through which a Run's providers get their credentials. The runner declares
 * `variables` as sensitive.
 */
export interface CredentialDelivery {
  readonly environment: Readonly<Record<string, Redacted.Redacted<string>>>
  readonly blocks: ReadonlyArray<ProviderBlock>
  readonly variables: Readonly<Record<string, Redacted.Redacted<string>>>
  readonly files: ReadonlyArray<DeliveredFile>
  /** All values to redact. */
  readonly secrets: ReadonlyArray<Secret>
  /**
   * This machine's own credentials. A plan must not contain these values, because the plan file is sent to the control
   * plane.
   */
  readonly provided: ReadonlyArray<Secret>
}

/** Paths of a Run's folders, as visible to its programs. */
export interface DeliveryPlace {
  readonly insideRoot: string
  readonly credentialFolder: string
  readonly moduleFolder: string
}

const identifier = /^[A-Za-z_][A-Za-z0-9_-]*$/
const structuralArguments = new Set([
  "alias",
  "version",
  "source",
  "count",
  "for_each",
  "depends_on",
  "lifecycle",
  "locals"
])
const variablePrefix = "svc_provider_"

type Item = {
  readonly envName: string
  readonly value: Redacted.Redacted<string>
  readonly argument: Redacted.Redacted<string>
}

const problemOf = (tuple: ProviderCredentials): string | undefined => {
  const name = tuple.alias === undefined ? tuple.moduleLocalName : `${tuple.moduleLocalName}.${tuple.alias}`
  if (!identifier.test(tuple.moduleLocalName) || (tuple.alias !== undefined && !identifier.test(tuple.alias))) {
    return `The provider configuration name ${JSON.stringify(name)} is not an identifier.`
  }
  const envNames = [...Object.keys(tuple.values), ...tuple.files.flatMap((file) => file.envName ?? [])]
  for (const envName of envNames) {
    const problem = (tuple.provided === undefined ? environmentNameProblem : providedNameProblem)(envName)
    if (problem !== undefined) return `Provider ${name}: the environment name ${JSON.stringify(envName)} ${problem}.`
  }
  if (new Set(envNames).size < envNames.length) return `Provider ${name}: an environment name is given twice.`
  for (const file of tuple.files) {
    const problem = credentialFileNameProblem(file.name)
    if (problem !== undefined) return `Provider ${name}: the file name ${JSON.stringify(file.name)} ${problem}.`
    const size = Redacted.value(file.content).byteLength
    if (size === 0 || size > longestCredentialFile) {
      return `Provider ${name}: the file ${file.name} must hold 1 to ${longestCredentialFile} bytes.`
    }
  }
  if (new Set(tuple.files.map((file) => file.name)).size < tuple.files.length) {
    return `Provider ${name}: a file name is given twice.`
  }
  for (const argument of [...Object.keys(tuple.config), ...Object.values(tuple.argumentNames)]) {
    if (!identifier.test(argument) || structuralArguments.has(argument)) {
      return `Provider ${name}: ${JSON.stringify(argument)} cannot be set as a provider argument.`
    }
  }
  return undefined
}

/**
 * Guesses the argument by convention: for the provider `acme/demo`, `DEMO_TOKEN` becomes `token`, unless a recipe defines
 * another argument. A later check against the provider's schema refuses a wrong guess.
 */
const conventionalArgument = (tuple: ProviderCredentials, envName: string): string | undefined => {
  const type = tuple.provider.slice(tuple.provider.lastIndexOf("/") + 1)
  const prefix = `${type.replaceAll("-", "_").toUpperCase()}_`
  const rest = envName.startsWith(prefix) ? envName.slice(prefix.length).toLowerCase() : ""
  return identifier.test(rest) && !structuralArguments.has(rest) ? rest : undefined
}

const secretsOf = (tuple: ProviderCredentials): ReadonlyArray<Secret> => [
  ...Object.entries(tuple.values).map(([name, value]) => ({ origin: `env.${name}`, value })),
  ...tuple.files.map(({ content, name }) => ({ origin: `file.${name}`, value: content }))
]

const providersWithSeveralConnections = (tuples: ReadonlyArray<ProviderCredentials>): Set<string> => {
  const seen = new Map<string, string | undefined>()
  const several = new Set<string>()
  for (const { provider, connection } of tuples) {
    if (seen.has(provider) && seen.get(provider) !== connection) several.add(provider)
    seen.set(provider, connection)
  }
  return several
}

/**
 * Decides how to deliver each secret. If a provider has a single set of credentials, they are passed in the environment. If
 * a provider has several sets, or if providers expect different values under the same name, the credentials are passed as
 * provider arguments that refer to sensitive variables of the runner, so that no provider configuration receives the
 * credentials of another configuration. Fails with the reason if a secret cannot be kept separate. A plan file contains the
 * arguments, so an apply needs only the environment.
 */
export const deliverCredentials = (
  tuples: ReadonlyArray<ProviderCredentials>,
  place: DeliveryPlace
): Result.Result<CredentialDelivery, string> => {
  const problem = tuples.map(problemOf).find((candidate) => candidate !== undefined)
  if (problem !== undefined) return Result.fail(problem)

  const folders = new Map<string, string>()
  const files: Array<DeliveredFile> = []
  const pathOf = (tuple: ProviderCredentials, file: CredentialFile): string => {
    const owner = tuple.connection ?? JSON.stringify([tuple.provider, tuple.moduleLocalName, tuple.alias])
    const folder = folders.get(owner) ?? posix.join(place.credentialFolder, String(folders.size))
    folders.set(owner, folder)
    const path = posix.join(folder, file.name)
    if (!files.some((known) => known.path === path)) files.push({ path, content: file.content })
    return path
  }
  const itemsOf = (tuple: ProviderCredentials): ReadonlyArray<Item> => [
    ...Object.entries(tuple.values).map(([envName, value]) => ({ envName, value, argument: value })),
    ...tuple.files.flatMap((file) => {
      const path = pathOf(tuple, file)
      if (file.envName === undefined) return []
      return [
        {
          envName: file.envName,
          value: Redacted.make(posix.join(place.insideRoot, path)),
          // The path must be relative: the plan file contains it, and the apply may run in another folder.
          argument: Redacted.make(posix.relative(place.moduleFolder, path))
        }
      ]
    })
  ]
  const credentials = tuples.map((tuple) => ({ tuple, items: itemsOf(tuple) }))

  const byArgument = providersWithSeveralConnections(tuples)
  const environment = new Map<string, { readonly value: Redacted.Redacted<string>; readonly provider: string }>()
  const claimEnvironment = () => {
    environment.clear()
    for (const { tuple, items } of credentials) {
      if (byArgument.has(tuple.provider)) continue
      for (const { envName, value } of items) {
        const known = environment.get(envName)
        if (known !== undefined && Redacted.value(known.value) !== Redacted.value(value)) {
          byArgument.add(known.provider).add(tuple.provider)
          return false
        }
        environment.set(envName, { value, provider: tuple.provider })
      }
    }
    return true
  }
  while (!claimEnvironment());

  const blocks: Array<ProviderBlock> = []
  const variables: Record<string, Redacted.Redacted<string>> = {}
  for (const { tuple, items } of credentials) {
    const body = new Map(Object.entries(tuple.config).map(([name, value]) => [name, literalTemplate(value)] as const))
    if (byArgument.has(tuple.provider) && tuple.provided !== undefined && items.length > 0) {
      return Result.fail(
        `The credentials ${tuple.provided} would have to be arguments of the provider ${tuple.provider}, since several Connections serve it or another provider ` +
          "reads a variable of the same name. A plan file holds arguments, and would carry them to the control plane. Bind one Connection to " +
          "all configurations of the provider."
      )
    }
    if (byArgument.has(tuple.provider)) {
      for (const { envName, argument } of items) {
        const name = Object.hasOwn(tuple.argumentNames, envName)
          ? tuple.argumentNames[envName]
          : conventionalArgument(tuple, envName)
        if (name === undefined) {
          return Result.fail(
            `Several Connections serve the provider ${tuple.provider}, or another provider reads ${envName} as well, so ${envName} ` +
              "must be given as a provider argument, but its argument name is not known. Use a Credential Recipe that names the " +
              "argument, or one Connection for all configurations of the provider."
          )
        }
        const variable = `${variablePrefix}${Object.keys(variables).length}`
        variables[variable] = argument
        body.set(name, `\${var.${variable}}`)
      }
    }
    if (body.size > 0) {
      blocks.push({
        provider: tuple.provider,
        moduleLocalName: tuple.moduleLocalName,
        alias: tuple.alias,
        inherited: tuple.inherited === true,
        body: Object.fromEntries(body)
      })
    }
  }

  return Result.succeed({
    environment: Object.fromEntries([...environment].map(([name, { value }]) => [name, value])),
    blocks,
    variables,
    files,
    secrets: tuples.flatMap(secretsOf),
    provided: tuples.filter(({ provided }) => provided !== undefined).flatMap(secretsOf)
  })
}
