import { bindingEnvironmentVariable, type CompiledDelivery, type CompiledRequirement } from "./CompiledInstall.ts"
import type { DocumentPath } from "./DiagnosticPath.ts"
import type { Report } from "./DiagnosticReport.ts"
import { checkIdentityDelivery } from "./IdentityRules.ts"
import type { VariableFacts } from "./ModuleFacts.ts"
import type { OperatorPolicy } from "./OperatorPolicy.ts"
import type { ManifestVersion } from "./RepositoryManifest.ts"
import {
  type DeliveryTarget,
  deliveryTargets,
  type OidcRequirement,
  type RequirementDeclaration
} from "./RequirementDeclaration.ts"

const reservedNames = new Set(
  "PATH HOME SHELL USER LOGNAME PWD OLDPWD TMPDIR TEMP TMP HOSTNAME IFS ENV BASH_ENV CDPATH PYTHONPATH PERL5LIB RUBYOPT".split(
    " "
  )
)

const reservedPrefixes = ["SVC_", "TF_", "TOFU_", "OPENTOFU_", "LD_", "DYLD_", "GIT_", "SSH_", "BUN_", "NODE_", "NPM_"]

/** Returns true for names that have a meaning for the host, the toolchain or a process loader. No repository may use them. */
const isReservedBinding = (name: string): boolean => {
  const upper = name.toUpperCase()
  return (
    reservedNames.has(upper) || upper.endsWith("_PROXY") || reservedPrefixes.some((prefix) => upper.startsWith(prefix))
  )
}

const defaultSecretBytes = 32

export interface RequirementContext {
  readonly variables: ReadonlyMap<string, VariableFacts>
  readonly policy: OperatorPolicy
  readonly version: ManifestVersion
  readonly report: Report
}

/** Checks that each permission may be granted and delivered in the requested way. */
export const checkPermissions = (
  permissions: ReadonlyArray<string>,
  delivery: string,
  path: DocumentPath,
  policy: OperatorPolicy,
  report: Report
): void =>
  permissions.forEach((permission, index) => {
    const allowed = policy.allowedPermissions.some(
      (candidate) => candidate.permission === permission && candidate.delivery === delivery
    )
    if (!allowed) {
      report(
        [...path, "permissions", index],
        "permission_not_allowed",
        "The operator allows no such permission with this delivery."
      )
    }
  })

const checkTarget = ({ lane, slot, target }: DeliveryTarget, path: DocumentPath, context: RequirementContext) => {
  const at = [...path, "deliver", lane, slot]
  if (lane === "bindings") {
    if (isReservedBinding(target)) {
      context.report(at, "reserved_binding", "The host reserves this binding name.")
    }
    if (context.variables.get(bindingEnvironmentVariable)?.mapOfStrings !== true) {
      context.report(
        at,
        "binding_environment_not_found",
        `Bindings are entries of a module variable named ${bindingEnvironmentVariable}, declared with exactly the type map(string).`
      )
    }
    return
  }
  const variable = context.variables.get(target)
  if (variable === undefined) {
    context.report(at, "variable_not_found", "The module has no variable of this name.")
  } else if (variable.type !== "string") {
    context.report(at, "variable_type_not_proven", `The module declares this variable as ${variable.type}, not string.`)
  }
}

const checkOidc = (requirement: OidcRequirement, path: DocumentPath, { policy, report }: RequirementContext) => {
  const allowed = policy.allowedOidcScopes
  if (allowed === undefined || allowed.length === 0) {
    report(path, "oidc_not_allowed", "The operator allows no OIDC scopes, so no identity is granted.")
  } else {
    requirement.scopes.forEach((scope, index) => {
      if (allowed.includes(scope)) return
      report([...path, "scopes", index], "oidc_scope_not_allowed", "The operator does not allow this scope.")
    })
  }
  if (policy.allowedOidcCallbackPaths?.includes(requirement.callbackPath) === false) {
    report([...path, "callbackPath"], "oidc_callback_not_allowed", "The operator does not allow this callback path.")
  }
  if (requirement.deliver.bindings !== undefined && !policy.runtimeOidcBindings) {
    report(
      [...path, "deliver", "bindings"],
      "oidc_bindings_not_allowed",
      "The operator does not allow OIDC values as runtime bindings."
    )
  }
}

const compileOne = (
  requirement: RequirementDeclaration,
  deliveries: ReadonlyArray<CompiledDelivery>,
  endpointVariable: string
): CompiledRequirement => {
  switch (requirement.kind) {
    case "secret.generated":
      return {
        kind: requirement.kind,
        bytes: requirement.bytes ?? defaultSecretBytes,
        encoding: requirement.encoding ?? "hex",
        deliveries
      }
    case "http.endpoint":
      return { kind: requirement.kind, deliveries }
    case "identity.oidc": {
      const { callbackPath, kind, scopes } = requirement
      return { kind, callbackPath, scopes, endpointVariable, deliveries }
    }
    case "interface.consume":
      return requirement
  }
}

const endpointVariableOf = (requirements: ReadonlyArray<RequirementDeclaration>) => {
  const endpoint = requirements.find((requirement) => requirement.kind === "http.endpoint")
  return endpoint?.deliver.variables?.url ?? ""
}

/**
 * Checks the requirements of a module against its variables and the operator's limits. Reports everything that is not allowed.
 * Use the result only if nothing was reported.
 */
export const compileRequirements = (
  requirements: ReadonlyArray<RequirementDeclaration>,
  path: DocumentPath,
  context: RequirementContext
): ReadonlyArray<CompiledRequirement> => {
  const endpointVariable = endpointVariableOf(requirements)
  checkIdentityDelivery(requirements, context.version, path, context.report)
  return requirements.map((requirement, index) => {
    const at = [...path, index]
    if (!context.policy.allowedRequirementKinds.includes(requirement.kind)) {
      context.report(at, "requirement_kind_not_allowed", "The operator does not allow requirements of this kind.")
    }
    const targets = deliveryTargets(requirement)
    for (const target of targets) checkTarget(target, at, context)
    if (requirement.kind === "identity.oidc") checkOidc(requirement, at, context)
    if (requirement.kind === "interface.consume") {
      checkPermissions(requirement.permissions, requirement.delivery.type, at, context.policy, context.report)
    }
    const deliveries = targets.map(
      ({ lane, slot, target }): CompiledDelivery => ({
        slot,
        lane: lane === "variables" ? "variable" : "binding",
        name: target
      })
    )
    return compileOne(requirement, deliveries, endpointVariable)
  })
}
