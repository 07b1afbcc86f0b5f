import type { CompiledInstall } from "../../../schema/manifest/CompiledInstall.ts"
import type { Finding } from "../../../schema/records/CompatibilityReport.ts"
import { manifestPath } from "../../ledger/source/SnapshotManifest.ts"

const namedAtMost = 20

const listed = (names: ReadonlyArray<string>): string =>
  names.length <= namedAtMost
    ? names.join(", ")
    : `${names.slice(0, namedAtMost).join(", ")} and ${names.length - namedAtMost} more`

/** Returns the parts of the manifest that an install cannot use, with all reasons. */
export const droppedAssistance = ({
  assistance,
  diagnostics,
  dropped
}: Pick<CompiledInstall, "assistance" | "diagnostics" | "dropped">): ReadonlyArray<Finding> => {
  if (assistance !== "invalid" && assistance !== "rejected") return []
  const message =
    assistance === "invalid"
      ? "The repository manifest is invalid, so nothing of it is used. The install goes on with the scanned variables."
      : `The repository manifest is refused for this module, so the install goes on without: ${listed(dropped ?? [])}.`
  return [
    { severity: "warning", code: "manifest_assistance_dropped", message, path: manifestPath },
    ...diagnostics.map(
      (diagnostic): Finding => ({
        severity: "warning",
        code: diagnostic.code,
        message: diagnostic.path === "" ? diagnostic.message : `${diagnostic.path}: ${diagnostic.message}`,
        path: manifestPath
      })
    )
  ]
}
