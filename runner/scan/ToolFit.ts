import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { ToolIdentity } from "../../schema/records/Run.ts"
import { type ToolName, toolTitles } from "../toolchain/Tool.ts"
import type { ScannedModule, ToolConstraint } from "./ScannedModule.ts"
import { admitsVersion } from "./VersionConstraint.ts"

/** Findings in scans from earlier releases, which read every module as OpenTofu does and did not record the tool. */
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

type Scanned = Pick<ScannedModule, "findings" | "readAs" | "toolDemands">

/** Returns the tool whose files a scan read, or `undefined` if every tool reads the same files. */
const readingTool = ({ findings, readAs }: Scanned): ToolName | undefined =>
  readAs ?? (findings.some(({ code }) => openTofuFindings.has(code)) ? "opentofu" : undefined)

/** Returns true if the tool would read the scanned files, rather than other files of the same module. */
export const readsSameFiles = (scan: Scanned, tool: ToolName): boolean => (readingTool(scan) ?? tool) === tool

/** Returns the reasons why the current tool would refuse the module, or would run files other than the scanned files. */
export const toolProblems = (scan: Scanned, tool: ToolIdentity): ReadonlyArray<Finding> => {
  const other = readingTool(scan)
  const unlike: ReadonlyArray<Finding> =
    other === undefined || other === tool.name
      ? []
      : [
          {
            severity: "error",
            code: unread,
            message: `The module has files that only OpenTofu reads. Its report was made for ${toolTitles[other]}, and this service runs ${toolTitles[tool.name]}. Check the module again.`
          }
        ]
  return [...unlike, ...(scan.toolDemands ?? []).flatMap((constraint) => judge(constraint, tool) ?? [])]
}

/**
 * Returns true if the verdict depends on the tool. If so, a report with these findings is valid only for the tool that was
 * used for the scan.
 */
export const dependsOnTool = (findings: ReadonlyArray<Finding>): boolean =>
  findings.some(({ code }) => code === unmet || code === unread)
