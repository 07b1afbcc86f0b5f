import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { ToolIdentity } from "../../schema/records/Run.ts"
import { toolTitles } from "../toolchain/Tool.ts"
import type { ScannedModule, ToolConstraint } from "./ScannedModule.ts"
import { admitsVersion } from "./VersionConstraint.ts"

/** The finding for a module that has a different meaning in Terraform. */
const openTofuFindings: ReadonlySet<string> = new Set(["opentofu_file", "hidden_by_opentofu_file"])

const unmet = "tool_version_unmet"
const unread = "tool_cannot_read"

const remedy = "Run the service with a tool that meets it, or change the module."

const judge = (constraint: ToolConstraint, { name, version }: ToolIdentity): Finding | undefined => {
  const versions = constraint[name]
  const { line, path } = constraint.location
  const runs = `this service runs ${toolTitles[name]} ${version}. ${remedy}`
  if (versions === null) {
    const other = name === "terraform" ? "opentofu" : "terraform"
    const needs = `${toolTitles[other]} ${(constraint[other] ?? []).join(", ")}`.trim()
    return { severity: "error", code: unread, message: `${constraint.what} needs ${needs}, and ${runs}`, path, line }
  }
  if (admitsVersion(versions, version)) return undefined
  const needs = `${toolTitles[name]} ${versions.join(", ")}`
  return { severity: "error", code: unmet, message: `${constraint.what} needs ${needs}, and ${runs}`, path, line }
}

/** Why the current tool would refuse the module, or run something other than what was scanned. */
export const toolProblems = (
  { findings, toolDemands }: Pick<ScannedModule, "findings" | "toolDemands">,
  tool: ToolIdentity
): ReadonlyArray<Finding> => {
  const files = findings.find(({ code }) => openTofuFindings.has(code))
  const hidden: ReadonlyArray<Finding> =
    tool.name === "opentofu" || files === undefined
      ? []
      : [
          {
            ...files,
            severity: "error",
            code: unread,
            message: `The module has files that only OpenTofu reads, and this service found Terraform. Install OpenTofu.`
          }
        ]
  return [...hidden, ...(toolDemands ?? []).flatMap((constraint) => judge(constraint, tool) ?? [])]
}

/** Whether the verdict depends on the tool: such a report is valid only with the tool it was created with. */
export const dependsOnTool = (findings: ReadonlyArray<Finding>): boolean =>
  findings.some(({ code }) => code === unmet || code === unread)
