import type { ManifestDiagnostic } from "./ManifestDiagnostic.ts"
import type { ManifestVersion } from "./RepositoryManifest.ts"

interface NewerPart {
  readonly code: ManifestDiagnostic["code"]
  readonly place: RegExp
  readonly message: (version: ManifestVersion) => string
}

/** The additions in later manifest versions, and the message for authors who use one in an earlier version. */
const newerParts: ReadonlyArray<NewerPart> = [
  {
    code: "unknown_field",
    place: /^\/install\/defaultModule$/,
    message: (version) =>
      version === "svc.com/v2.4"
        ? "svc.com/v2.4 has no defaultModule any more; only svc.com/v2.1 to svc.com/v2.3 have it. Remove it."
        : `defaultModule needs svc.com/v2.1, v2.2 or v2.3; this document is ${version}.`
  },
  {
    code: "unknown_field",
    place: /^\/install\/modules\/[^/]+\/interfaces$/,
    message: (version) => `interfaces need svc.com/v2 or later; this document is ${version}.`
  },
  {
    code: "unknown_field",
    place: /^\/install\/modules\/[^/]+\/sourceBuild$/,
    message: (version) => `sourceBuild needs svc.com/v2.3 or later; this document is ${version}.`
  },
  {
    code: "invalid_value",
    place: /^\/install\/modules\/[^/]+\/requires\/\d+\/kind$/,
    message: (version) => `interface.consume needs svc.com/v2.2 or later; this document is ${version}.`
  }
]

const before2_2: ReadonlySet<ManifestVersion> = new Set(["svc.com/v1", "svc.com/v2", "svc.com/v2.1"])

/** The same diagnostic, with the version that has the field. */
export const nameRequiredVersion =
  (version: ManifestVersion) =>
  (diagnostic: ManifestDiagnostic): ManifestDiagnostic => {
    const part = newerParts.find(({ code, place }) => code === diagnostic.code && place.test(diagnostic.path))
    if (part === undefined) return diagnostic
    if (part.code === "unknown_field") return { ...diagnostic, message: part.message(version) }
    return before2_2.has(version)
      ? { ...diagnostic, message: `${diagnostic.message} ${part.message(version)}` }
      : diagnostic
  }
