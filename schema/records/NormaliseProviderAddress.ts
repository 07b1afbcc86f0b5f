/**
 * Registries that a provider address without a host may refer to. Each tool has its own default registry, but both list the same
 * providers.
 */
export const defaultRegistryHosts = ["registry.opentofu.org", "registry.terraform.io"] as const

/** Converts a provider address to the form that is stored: lower case, without the host of a default registry. */
export const normaliseProviderAddress = (address: string): string => {
  const lower = address.toLowerCase()
  const host = defaultRegistryHosts.find((name) => lower.startsWith(`${name}/`))
  return host === undefined ? lower : lower.slice(host.length + 1)
}
