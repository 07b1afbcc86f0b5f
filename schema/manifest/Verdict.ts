import { Result, Schema } from "effect"
import { parseInstallLink, type LinkPolicy } from "../handoff/InstallLink.ts"
import { LinkProblemCode } from "../handoff/LinkRefusal.ts"
import { diagnosticReport } from "./DiagnosticReport.ts"
import { checkIdentityDelivery } from "./IdentityRules.ts"
import { ManifestDiagnosticCode } from "./ManifestDiagnostic.ts"
import { parseRepositoryManifest } from "./ManifestParser.ts"
import { ManifestVersion, type RepositoryManifest } from "./RepositoryManifest.ts"
import { parseSourceOptions, sourceOptionsVersion } from "./SourceOptions.ts"

/** The result of checking a document or link offline. A sync or an `/install` request produces the same result. */
export const Verdict = Schema.Struct({
  status: Schema.Literals(["valid", "invalid"]),
  apiVersion: Schema.optionalKey(Schema.Union([ManifestVersion, Schema.Literal(sourceOptionsVersion)])),
  diagnostics: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      code: Schema.Union([ManifestDiagnosticCode, LinkProblemCode]),
      message: Schema.String
    })
  )
})
export type Verdict = typeof Verdict.Type

/**
 * Finds faults that no module, policy or service can fix. A module with such a fault is always rejected, even in a valid
 * document.
 */
const moduleRefusals = ({ apiVersion, install }: RepositoryManifest) => {
  const { diagnostics, report } = diagnosticReport()
  for (const [key, { requires }] of Object.entries(install.modules)) {
    checkIdentityDelivery(requires ?? [], apiVersion, ["install", "modules", key, "requires"], report)
  }
  return diagnostics
}

/**
 * Implements `svc manifest check` for the bytes of a repository manifest. A valid document may still contain rejected modules.
 */
export const manifestVerdict = (bytes: Uint8Array): Verdict =>
  Result.match(parseRepositoryManifest(bytes), {
    onSuccess: (manifest) => ({
      status: "valid",
      apiVersion: manifest.apiVersion,
      diagnostics: moduleRefusals(manifest)
    }),
    onFailure: ({ apiVersion, diagnostics }) => ({
      status: "invalid",
      ...(apiVersion === undefined ? {} : { apiVersion }),
      diagnostics
    })
  })

/** Implements `svc options check` for the bytes of a source options document. */
export const sourceOptionsVerdict = (bytes: Uint8Array): Verdict =>
  Result.match(parseSourceOptions(bytes), {
    onSuccess: ({ apiVersion }) => ({ status: "valid", apiVersion, diagnostics: [] }),
    onFailure: ({ diagnostics }) => ({ status: "invalid", diagnostics })
  })

/** Implements `svc link check` for a whole hand-off link. */
export const linkVerdict = (link: string, policy?: LinkPolicy): Verdict =>
  Result.match(parseInstallLink(link, policy), {
    onSuccess: () => ({ status: "valid", diagnostics: [] }),
    onFailure: ({ problems }) => ({ status: "invalid", diagnostics: problems })
  })
