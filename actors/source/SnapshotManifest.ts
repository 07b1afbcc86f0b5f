import { createHash } from "node:crypto"
import { posix } from "node:path"
import { Result } from "effect"
import type { ManifestDeclaration } from "../../schema/manifest/InstallConfigCompiler.ts"
import { ManifestRefusal, parseRepositoryManifest } from "../../schema/manifest/ManifestParser.ts"
import { canonicalJson } from "../idempotency/RequestDigest.ts"
import type { StagedSnapshot } from "./StagedFindings.ts"

type PinnedManifest = Pick<StagedSnapshot, "id" | "path" | "repositoryManifest" | "manifestDocument">
/** `url`: where a module is decides which base configuration of the operator counts. */
export type ManifestCarrier = PinnedManifest & Pick<StagedSnapshot, "url">

/** A file that was refused by its bytes (too large, no text, no regular file): its reason is all that is known of it. */
const refusedByBytes = (reason: string | undefined): ManifestDeclaration => ({
  _tag: "Refused",
  refusal: new ManifestRefusal({
    diagnostics: [{ path: "", code: "invalid_value", message: reason ?? "The repository manifest cannot be read." }]
  })
})

/** The manifest of a snapshot as the parser leaves it. */
export const declarationOf = ({ manifestDocument, repositoryManifest }: ManifestCarrier): ManifestDeclaration => {
  if (repositoryManifest.status === "absent") return { _tag: "Absent" }
  if (manifestDocument === undefined) return refusedByBytes(repositoryManifest.reason)
  const parsed = parseRepositoryManifest(new TextEncoder().encode(manifestDocument))
  if (Result.isFailure(parsed)) return { _tag: "Refused", refusal: parsed.failure }
  return repositoryManifest.status === "valid"
    ? { _tag: "Parsed", manifest: parsed.success }
    : refusedByBytes(repositoryManifest.reason)
}

/** What pins the manifest of a snapshot. A file whose bytes were never read is pinned by the snapshot and the refusal. */
export const manifestPin = ({ id, repositoryManifest }: ManifestCarrier): { readonly manifestDigest?: string } => {
  if (repositoryManifest.status === "absent") return {}
  const unread = () =>
    createHash("sha256")
      .update(canonicalJson(["refused-manifest", id, repositoryManifest.reason ?? ""]))
      .digest("hex")
  return { manifestDigest: repositoryManifest.digest ?? `sha256:${unread()}` }
}

/** Where a repository keeps its manifest. */
export const manifestPath = ".well-known/svc.json"

/** The path in the repository of what a snapshot has at `path`. A manifest names modules so, whatever folder a Source takes. */
export const repositoryPathOf = (snapshot: Pick<StagedSnapshot, "path">, path: string): string =>
  posix.join(snapshot.path, path)

/** The way back: `undefined` for what lies outside of the folder that the snapshot was taken of. */
const snapshotPathOf = ({ path }: ManifestCarrier, key: string): string | undefined => {
  if (path === ".") return key
  if (key === path) return "."
  return key.startsWith(`${path}/`) ? key.slice(path.length + 1) : undefined
}

/** The paths in the snapshot that its valid manifest says something of. */
export const declaredPaths = (snapshot: ManifestCarrier): ReadonlyArray<string> => {
  const declaration = declarationOf(snapshot)
  if (declaration._tag !== "Parsed") return []
  return Object.keys(declaration.manifest.install.modules).flatMap((key) => snapshotPathOf(snapshot, key) ?? [])
}
