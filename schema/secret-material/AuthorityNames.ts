import type { ForbiddenMaterial } from "./SecretScan.ts"
import { foldText } from "./TextFolding.ts"

const credentialNames = new Set(["authorization", "bearer", "cookie", "setcookie", "dsn", "pat", "jwt", "sessionid"])

const credentialEnding =
  /(?:password|passwd|passphrase|secret|secretref|secretid|secretvalue|(?:secret|api|access|account|private|signing|encryption|ssh)key|accesskeyid|token|tokenvalue|connectionstring)$/

/** Names of paging tokens, which are not credentials. */
const paginationNames = new Set(["pagetoken", "nextpagetoken", "previouspagetoken", "continuationtoken"])

const hostRecords = [
  "account",
  "workspace",
  "capsule",
  "resource",
  "connection",
  "providerconnection",
  "principal",
  "installconfig",
  "interfacebinding",
  "sourcesnapshot"
]

const hostAuthorityNames = new Set([
  ...hostRecords.flatMap((record) => [`${record}id`, `${record}ref`]),
  "policyref",
  "policyid",
  "authorityguard",
  "executionauthorityepoch"
])

const bare = (name: string) =>
  foldText(name)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "")

/**
 * Checks a field name in public JSON, ignoring case and separators. Finds names of credentials, of references to credentials, and
 * of ids that only the host assigns.
 */
export const forbiddenName = (name: string): ForbiddenMaterial | undefined => {
  const plain = bare(name)
  if (hostAuthorityNames.has(plain)) return "host_authority_material"
  if (plain.includes("credential") || credentialNames.has(plain)) return "secret_material"
  return credentialEnding.test(plain) && !paginationNames.has(plain) ? "secret_material" : undefined
}
