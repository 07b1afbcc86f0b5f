import { createHash } from "node:crypto"
import { posix } from "node:path"
import { Result } from "effect"
import type { ManifestDeclaration } from "../../../schema/manifest/InstallConfigCompiler.ts"
import { ManifestRefusal, parseRepositoryManifest } from "../../../schema/manifest/ManifestParser.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import type { StagedSnapshot } from "./StagedFindings.ts"

type PinnedManifest = Pick<StagedSnapshot, "id" | "path" | "repositoryManifest" | "manifestDocument">
/** A snapshot with its manifest. Includes `url`, because a module's location selects the operator's base configuration. */
export type ManifestCarrier = PinnedManifest & Pick<StagedSnapshot, "url">

/**
 * Returns the declaration for a manifest file that was refused because of its bytes: too large, not text or not a regular
 * file. Only the reason is kept.
 */
const refusedByBytes = (reason: string | undefined): ManifestDeclaration => ({
  _tag: "Refused",
  refusal: new ManifestRefusal({
    diagnostics: [{ path: "", code: "invalid_value", message: reason ?? "The repository manifest cannot be read." }]
  })
})

/** Returns the parsed manifest of a snapshot. */
export const declarationOf = ({ manifestDocument, repositoryManifest }: ManifestCarrier): ManifestDeclaration => {
  if (repositoryManifest.status === "absent") return { _tag: "Absent" }
  if (manifestDocument === undefined) return refusedByBytes(repositoryManifest.reason)
  const parsed = parseRepositoryManifest(new TextEncoder().encode(manifestDocument))
  if (Result.isFailure(parsed)) return { _tag: "Refused", refusal: parsed.failure }
  return repositoryManifest.status === "valid"
    ? { _tag: "Parsed", manifest: parsed.success }
    : refusedByBytes(repositoryManifest.reason)
}

/**
 * Returns the pin of a snapshot's manifest. If the bytes of the file were never read, the pin consists of the snapshot and the
 * refusal.
 */
export const manifestPin = ({ id, repositoryManifest }: ManifestCarrier): { readonly manifestDigest?: string } => {
  if (repositoryManifest.status === "absent") return {}
  const unread = () =>
    createHash("sha256")
      .update(canonicalJson(["refused-manifest", id, repositoryManifest.reason ?? ""]))
      .digest("hex")
  return { manifestDigest: repositoryManifest.digest ?? `sha256:${unread()}` }
}

/** The path of the manifest in a repository. */
export const manifestPath = ".well-known/svc.json"

/**
 * Converts a path in a snapshot to a path in the repository. Manifests use repository paths, regardless of the Source's
 * folder.
 */
export const repositoryPathOf = (snapshot: Pick<StagedSnapshot, "path">, path: string): string =>
  posix.join(snapshot.path, path)

/**
 * Converts a repository path to a path in the snapshot. Returns `undefined` if the path is outside the snapshot's folder.
 */
const snapshotPathOf = ({ path }: ManifestCarrier, key: string): string | undefined => {
  if (path === ".") return key
  if (key === path) return "."
  return key.startsWith(`${path}/`) ? key.slice(path.length + 1) : undefined
}

/** Returns the snapshot paths that a valid manifest lists. */
export const declaredPaths = (snapshot: ManifestCarrier): ReadonlyArray<string> => {
  const declaration = declarationOf(snapshot)
  if (declaration._tag !== "Parsed") return []
  return Object.keys(declaration.manifest.install.modules).flatMap((key) => snapshotPathOf(snapshot, key) ?? [])
}
