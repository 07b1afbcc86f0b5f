import { Result, SemVer } from "effect"
import type { ToolIdentity } from "../../schema/records/Run.ts"
import { toolTitles } from "../toolchain/Tool.ts"

/**
 * Returns the reason why this tool cannot read a state, or `undefined` if the tool is at least as new as the tool that wrote the
 * state. A state does not record whether OpenTofu or Terraform wrote it, so svc treats their versions as one sequence. If a
 * version cannot be parsed, svc reports no problem and leaves the decision to the tool.
 */
export const stateToolProblem = (writtenBy: string | undefined, tool: ToolIdentity): string | undefined => {
  const writer = SemVer.parse(writtenBy ?? "")
  const reader = SemVer.parse(tool.version)
  if (Result.isFailure(writer) || Result.isFailure(reader)) return undefined
  if (!SemVer.isGreaterThan(writer.success, reader.success)) return undefined
  return `Version ${writtenBy} of the tool wrote the state, and this installation runs ${toolTitles[tool.name]} ${tool.version}, which is older. Ask the operator for a tool that is as new.`
}
