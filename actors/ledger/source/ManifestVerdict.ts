import { createHash } from "node:crypto"
import { Option, Result } from "effect"
import type { SyncedSnapshot } from "../../../runner/snapshot/SyncedSnapshot.ts"
import { parseRepositoryManifest } from "../../../schema/manifest/ManifestParser.ts"
import { manifestRulesVersion } from "../../../schema/manifest/ManifestRulesVersion.ts"
import type { RepositoryManifestStatus } from "../../../schema/records/Source.ts"
import { ManifestStatusJson, type SnapshotRow } from "./SourceRow.ts"

const decodeUtf8 = Option.liftThrowable((bytes: Uint8Array) =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
)

/**
 * Returns the manifest as text, if its bytes are valid text. The exact text is kept, so that parsing it again gives the same
 * result.
 */
const documentOf = (bytes: Uint8Array): { readonly document?: string } =>
  Option.match(decodeUtf8(bytes), { onNone: () => ({}), onSome: (document) => ({ document }) })

const judge = (bytes: Uint8Array): RepositoryManifestStatus => {
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`
  const parsed = parseRepositoryManifest(bytes)
  if (Result.isSuccess(parsed)) return { status: "valid", digest, apiVersion: parsed.success.apiVersion }
  const { apiVersion, message } = parsed.failure
  return { status: "invalid", digest, reason: message, ...(apiVersion === undefined ? {} : { apiVersion }) }
}

const ofThisEdition = (status: RepositoryManifestStatus): RepositoryManifestStatus => ({
  ...status,
  rulesVersion: manifestRulesVersion
})

/** Applies this release's rules to the manifest that a sync found, and returns the document to keep for later releases. */
export const manifestVerdict = (
  found: SyncedSnapshot["repositoryManifest"]
): { readonly status: RepositoryManifestStatus; readonly document?: string } => {
  if (found.status === "absent") return { status: ofThisEdition({ status: "absent" }) }
  if (found.status === "refused") return { status: ofThisEdition({ status: "invalid", reason: found.reason }) }
  return { status: ofThisEdition(judge(found.bytes)), ...documentOf(found.bytes) }
}

/** Applies this release's rules to a document that an earlier release stored. Returns `undefined` if no document is stored. */
export const judgedAgain = (snapshot: Pick<SnapshotRow, "manifest_document" | "repository_manifest">) => {
  const before = ManifestStatusJson.read(snapshot.repository_manifest)
  if (snapshot.manifest_document === null || before.rulesVersion === manifestRulesVersion) return undefined
  const status = ofThisEdition(judge(new TextEncoder().encode(snapshot.manifest_document)))
  const differs =
    status.status !== before.status || status.reason !== before.reason || status.apiVersion !== before.apiVersion
  return { status, differs }
}
