import { undeclaredAddresses } from "../../../runner/scan/ModuleAddresses.ts"
import type { ManagedObject } from "../../../runner/execution/StateFile.ts"
import type { ScannedModule } from "../../../runner/scan/ScannedModule.ts"
import type { Finding } from "../../../schema/records/CompatibilityReport.ts"
import { addressList } from "./AddressList.ts"

type Scan = Pick<ScannedModule, "addresses" | "providerPackages">

const finding = (code: string, message: string): Finding => ({ severity: "error", code, message })

/** Address prefix of providers that are built into the tool. Modules do not have to require these providers. */
const builtin = "terraform.io/builtin/"

const namedAtMost = 100

/**
 * Returns the reason why a state does not belong to the module. `confirmed`: addresses that the owner typed to confirm that svc
 * stops managing them, in clear text or in displayed form. `shown`: converts an address to its displayed form.
 */
export const moduleMismatch = (
  { addresses, providerPackages }: Scan,
  managed: ReadonlyArray<ManagedObject>,
  confirmed: ReadonlyArray<string>,
  shown: (address: string) => string
): ReadonlyArray<Finding> => {
  if (addresses === undefined) {
    return [
      finding(
        "state_check_outdated",
        "The module was checked by an earlier release, which did not note its resources. Check the module again."
      )
    ]
  }
  const findings: Array<Finding> = []
  const known = new Set(providerPackages.map(({ source }) => source))
  const unknown = [...new Set(managed.map(({ provider }) => provider))].filter(
    (provider) => !provider.startsWith(builtin) && !known.has(provider)
  )
  if (unknown.length > 0) {
    findings.push(
      finding(
        "state_provider_unknown",
        `The module requires no such provider: ${addressList(unknown, namedAtMost)}. Add it to the module, or remove its resources from the state.`
      )
    )
  }
  const typed = new Set(confirmed.map(shown))
  const undeclared = undeclaredAddresses(
    addresses,
    managed.map(({ address }) => address)
  )
    .map(shown)
    .filter((address) => !typed.has(address))
  if (undeclared.length > 0) {
    findings.push(
      finding(
        "state_address_undeclared",
        `The module does not declare these resources of the state, so its plan would destroy them: ${addressList(undeclared, namedAtMost)}. Add a moved or removed block to the module, or confirm each address in adopt.undeclared.`
      )
    )
  }
  return findings
}
