import type { ToolIdentity } from "../../schema/records/Run.ts"

export type ToolName = ToolIdentity["name"]

/** An executable that was started once and reported its name and version. `path` is absolute. */
export interface Tool extends ToolIdentity {
  readonly path: string
  readonly origin: ToolOrigin
}

/** The place where the tool was found: the setting, the data folder, or PATH. */
export type ToolOrigin = "configured" | "managed" | "path"

/** A file that may be a tool. A managed tool has `sha256` and `version`, which must match. */
export interface ToolCandidate {
  readonly path: string
  readonly origin: ToolOrigin
  readonly expected?: { readonly sha256: string; readonly version: string } | undefined
}

export const toolTitles = { opentofu: "OpenTofu", terraform: "Terraform" } as const satisfies Record<ToolName, string>
export const toolExecutables = { opentofu: "tofu", terraform: "terraform" } as const satisfies Record<ToolName, string>

/** Oldest versions that the runner supports, because of their plan format and flags. */
export const oldestVersions = { opentofu: "1.6.0", terraform: "1.5.0" } as const satisfies Record<ToolName, string>
