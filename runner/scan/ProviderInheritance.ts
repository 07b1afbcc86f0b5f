import type { ProviderRequirement } from "../../schema/records/Provider.ts"
import type { ModuleDeclaration } from "./ModuleDeclaration.ts"
import { providerType } from "./ProviderSource.ts"

type Lookup = (path: string) => ModuleDeclaration | undefined

const addressesOf = ({ providers }: ModuleDeclaration, localNames: Iterable<string>): Set<string> => {
  const addresses = new Set<string>()
  for (const name of localNames) {
    const address = providers.names.get(name)?.source.address
    if (address !== undefined) addresses.add(address)
  }
  return addresses
}

/**
 * Returns the providers whose default configuration a module inherits from its caller, because neither the module nor a
 * module below it defines that configuration. `known` caches the result for each module. The module calls must not form
 * cycles.
 */
const inheritedBy = (
  module: ModuleDeclaration,
  lookup: Lookup,
  known: Map<string, ReadonlySet<string>>
): ReadonlySet<string> => {
  const before = known.get(module.path)
  if (before !== undefined) return before
  const inherited = new Set<string>()
  for (const { source } of module.providers.names.values()) if (!source.builtin) inherited.add(source.address)
  for (const address of inheritedFromCalls(module, lookup, known)) inherited.add(address)
  for (const address of addressesOf(module, module.providers.configured)) inherited.delete(address)
  known.set(module.path, inherited)
  return inherited
}

const inheritedFromCalls = (
  module: ModuleDeclaration,
  lookup: Lookup,
  known: Map<string, ReadonlySet<string>>
): ReadonlySet<string> => {
  const inherited = new Set<string>()
  for (const { path, providers } of module.calls) {
    const child = path === undefined ? undefined : lookup(path)
    if (child === undefined) continue
    const passed = addressesOf(
      child,
      providers.filter((pair) => pair.child.alias === undefined).map((pair) => pair.child.localName)
    )
    for (const address of inheritedBy(child, lookup, known)) if (!passed.has(address)) inherited.add(address)
  }
  return inherited
}

const compare = (left: string, right: string) => (left < right ? -1 : left > right ? 1 : 0)

const byTuple = (left: ProviderRequirement, right: ProviderRequirement) =>
  compare(left.provider, right.provider) ||
  compare(left.moduleLocalName, right.moduleLocalName) ||
  compare(left.childAlias ?? "", right.childAlias ?? "")

/**
 * Returns the provider's type if the root module does not use that type as a name; otherwise, appends the lowest free number
 * to the type.
 */
const freeName = (provider: string, taken: ReadonlySet<string>): string => {
  const type = providerType(provider)
  // Prefix a type that begins with a digit, because a local name must not begin with a digit.
  const plain = /^\d/.test(type) ? `provider-${type}` : type
  let name = plain
  for (let number = 2; taken.has(name); number++) name = `${plain}-${number}`
  return name
}

/**
 * Determines the provider configurations of a root module.
 * - `requirements`: one requirement for each local name, one for each additional configuration with an alias, and one for
 *   each default configuration that child modules inherit, under a separate name
 * - `inherited`: the sorted addresses of providers that only child modules use; the root module has no local name for them
 */
export const rootRequirements = (
  root: ModuleDeclaration,
  lookup: Lookup
): { readonly requirements: ReadonlyArray<ProviderRequirement>; readonly inherited: ReadonlyArray<string> } => {
  const requirements: Array<ProviderRequirement> = []
  const named = addressesOf(root, root.providers.names.keys())
  for (const [moduleLocalName, { source }] of root.providers.names) {
    if (!source.builtin) requirements.push({ provider: source.address, moduleLocalName })
  }
  for (const { localName, alias } of root.providers.aliases) {
    const source = root.providers.names.get(localName)?.source
    if (source !== undefined && !source.builtin) {
      requirements.push({ provider: source.address, moduleLocalName: localName, childAlias: alias })
    }
  }
  const inherited = [...inheritedFromCalls(root, lookup, new Map())].filter((provider) => !named.has(provider))
  inherited.sort(compare)
  const taken = new Set(root.providers.names.keys())
  for (const provider of inherited) {
    const moduleLocalName = freeName(provider, taken)
    taken.add(moduleLocalName)
    requirements.push({ provider, moduleLocalName })
  }
  return { requirements: requirements.sort(byTuple), inherited }
}
