import type { DocumentPath } from "./DiagnosticPath.ts"
import type { Report } from "./DiagnosticReport.ts"
import type { ManifestVersion } from "./RepositoryManifest.ts"
import { type OidcRequirement, oidcSlots, type RequirementDeclaration } from "./RequirementDeclaration.ts"

const bindingsSince: ManifestVersion = "svc.com/v2.4"

const checkDelivery = (
  { deliver: { bindings, variables } }: OidcRequirement,
  version: ManifestVersion,
  path: DocumentPath,
  report: Report
) => {
  if (bindings !== undefined && version !== bindingsSince) {
    report(
      [...path, "deliver", "bindings"],
      "oidc_bindings_need_v2_4",
      `${version} delivers identity.oidc to variables only; runtime bindings need ${bindingsSince}.`
    )
  }
  const slots = Object.keys({ ...variables, ...bindings })
  if (slots.length !== oidcSlots.length || !oidcSlots.every((slot) => slots.includes(slot))) {
    report([...path, "deliver"], "oidc_requires_four_slots", `Deliver exactly the slots ${oidcSlots.join(", ")}.`)
  }
}

/**
 * Checks the slots and delivery methods of an identity. A document that requests more than any version grants remains valid;
 * only the module that requests too much is rejected.
 */
export const checkIdentityDelivery = (
  requirements: ReadonlyArray<RequirementDeclaration>,
  version: ManifestVersion,
  path: DocumentPath,
  report: Report
): void => {
  const endpoint = requirements.find((requirement) => requirement.kind === "http.endpoint")
  requirements.forEach((requirement, index) => {
    if (requirement.kind !== "identity.oidc") return
    checkDelivery(requirement, version, [...path, index], report)
    if (endpoint !== undefined && endpoint.deliver.variables?.url === undefined) {
      report(
        [...path, index],
        "oidc_requires_endpoint_url",
        "identity.oidc needs an http.endpoint that delivers url to a variable."
      )
    }
  })
}
