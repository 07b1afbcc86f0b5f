import { Result } from "effect"
import { defaultRegistryHosts } from "../../schema/records/NormaliseProviderAddress.ts"

/**
 * A normalised provider address in lower case: `namespace/type` for the default public registry, otherwise `host/namespace/type`.
 * A builtin provider is part of the tool, so it is never installed or configured.
 */
export interface ProviderSource {
  readonly address: string
  readonly builtin: boolean
}

const defaultHosts: ReadonlySet<string> = new Set(defaultRegistryHosts)
const builtinHost = "terraform.io"
const part = /^[0-9a-z](?:[0-9a-z_-]{0,62}[0-9a-z])?$/
const host =
  /^(?=.{1,253}(?::|$))[0-9a-z](?:[0-9a-z-]{0,61}[0-9a-z])?(?:\.[0-9a-z](?:[0-9a-z-]{0,61}[0-9a-z])?){0,20}(?::[1-9]\d{0,4})?$/

const isPart = (text: string) => part.test(text) && !text.includes("--") && !text.includes("__")

/** Parses the `source` of a provider requirement. Fails with a description of the error. */
export const parseProviderSource = (text: string): Result.Result<ProviderSource, string> => {
  const parts = text.toLowerCase().split("/")
  const type = parts.at(-1) ?? ""
  const namespace = parts.at(-2) ?? "hashicorp"
  const hostName = parts.at(-3)
  if (parts.length > 3 || !isPart(type) || !isPart(namespace)) {
    return Result.fail("it must be [host/]namespace/type, of letters, digits, - and _")
  }
  if (hostName !== undefined && !host.test(hostName)) return Result.fail("its first part is not a host name")
  if (type.startsWith("terraform-")) return Result.fail("its type must not begin with terraform-")
  if (hostName === builtinHost && namespace === "builtin") {
    return Result.succeed({ address: `${builtinHost}/builtin/${type}`, builtin: true })
  }
  const address = `${namespace}/${type}`
  return Result.succeed({
    address: hostName === undefined || defaultHosts.has(hostName) ? address : `${hostName}/${address}`,
    builtin: false
  })
}

/** Returns the provider to which a local name refers if the module does not specify one. */
export const impliedProviderSource = (localName: string): Result.Result<ProviderSource, string> =>
  localName === "terraform"
    ? Result.succeed({ address: `${builtinHost}/builtin/terraform`, builtin: true })
    : localName.includes("/")
      ? Result.fail("it must not hold a /")
      : parseProviderSource(localName)

/** Returns the default local name of a provider: the last part of its address. */
export const providerType = (address: string): string => address.slice(address.lastIndexOf("/") + 1)
