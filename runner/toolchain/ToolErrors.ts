import { Schema } from "effect"

/** Neither OpenTofu nor Terraform is available for Runs. `remedy` describes what the operator can do. */
export class ToolMissing extends Schema.TaggedError<ToolMissing>()("ToolMissing", {
  message: Schema.String,
  remedy: Schema.String
}) {}

/** svc found a tool that does not work or is not the expected tool. It never uses another tool instead. */
export class ToolBroken extends Schema.TaggedError<ToolBroken>()("ToolBroken", {
  path: Schema.String,
  message: Schema.String,
  remedy: Schema.String
}) {}

export const DownloadRefusal = Schema.Literals([
  "unreachable",
  "key",
  "signature",
  "checksum",
  "archive",
  "downgrade",
  "storage"
])

/** The managed download did not produce a verified tool. svc neither keeps nor runs any part of the download. */
export class ToolDownloadFailed extends Schema.TaggedError<ToolDownloadFailed>()("ToolDownloadFailed", {
  reason: DownloadRefusal,
  message: Schema.String,
  remedy: Schema.String
}) {}

export type ToolError = ToolMissing | ToolBroken | ToolDownloadFailed
