import { expect, test } from "bun:test"
import { judgedAgain, manifestVerdict } from "../../../../actors/ledger/source/ManifestVerdict.ts"
import {
  declarationOf,
  declaredPaths,
  type ManifestCarrier,
  manifestPin,
  repositoryPathOf
} from "../../../../actors/ledger/source/SnapshotManifest.ts"
import { manifestRulesVersion } from "../../../../schema/manifest/ManifestRulesVersion.ts"
import { bytes, manifest } from "../../../schema/manifest/ManifestFixture.ts"
import { namedSnapshot } from "../../../support/NamedIds.ts"
import type { SourceSnapshotId } from "../../../../schema/records/Ids.ts"

const module = { inputs: [] }
const valid = bytes(manifest("svc.com/v2.4", {}, { modules: { ".": module, "apps/web": module, apps: module } }))
const broken = bytes({ apiVersion: "svc.com/v2.4", kind: "Repository" })

/** Returns a snapshot, with the given manifest contents, of one folder of a repository. */
const carrier = (found: Uint8Array, path = "."): ManifestCarrier => {
  const { document, status } = manifestVerdict({ status: "present", bytes: found })
  return {
    id: namedSnapshot("a"),
    url: "https://git.example.com/app",
    path,
    repositoryManifest: status,
    ...(document === undefined ? {} : { manifestDocument: document })
  }
}
const absent: ManifestCarrier = {
  id: namedSnapshot("a"),
  url: "https://git.example.com/app",
  path: ".",
  repositoryManifest: manifestVerdict({ status: "absent" }).status
}

test("the current rules decide whether a snapshot's manifest is absent, valid, or invalid with a reason", () => {
  expect(absent.repositoryManifest).toEqual({ status: "absent", rulesVersion: manifestRulesVersion })
  expect(carrier(valid).repositoryManifest).toMatchObject({ status: "valid", apiVersion: "svc.com/v2.4" })
  expect(carrier(broken).repositoryManifest).toMatchObject({ status: "invalid", reason: expect.any(String) })
  expect(manifestVerdict({ status: "refused", reason: "Too large." })).toEqual({
    status: { status: "invalid", reason: "Too large.", rulesVersion: manifestRulesVersion }
  })
})

test("a snapshot stores its manifest only if it is text", () => {
  const noText = manifestVerdict({ status: "present", bytes: new Uint8Array([0xff, 0xfe, 0x00]) })
  expect(noText.status.status).toBe("invalid")
  expect(noText.document).toBeUndefined()
  expect(manifestVerdict({ status: "present", bytes: valid }).document).toBe(new TextDecoder().decode(valid))
})

test("a stored manifest is validated again only if the version of the rules has changed", () => {
  const { document = null, status } = manifestVerdict({ status: "present", bytes: valid })
  const judged = (before: object, text: string | null = document) =>
    judgedAgain({ manifest_document: text, repository_manifest: JSON.stringify({ ...status, ...before }) })
  expect(judged({})).toBeUndefined()
  expect(judged({ rulesVersion: manifestRulesVersion - 1 })).toEqual({ status, differs: false })
  expect(judged({ rulesVersion: manifestRulesVersion - 1 }, null)).toBeUndefined()
  expect(judged({ rulesVersion: manifestRulesVersion - 1, status: "invalid" })?.differs).toBe(true)
  expect(judged({ rulesVersion: manifestRulesVersion - 1, reason: "Once refused." })?.differs).toBe(true)
})

test("a declaration always comes from the parser, and a manifest that a sync rejected stays rejected even if it parses", () => {
  expect(declarationOf(absent)._tag).toBe("Absent")
  expect(declarationOf(carrier(valid))._tag).toBe("Parsed")
  expect(declarationOf(carrier(broken))._tag).toBe("Refused")
  const refused = {
    ...carrier(valid),
    repositoryManifest: { status: "invalid", reason: "Not a regular file." } as const
  }
  expect(declarationOf(refused)._tag).toBe("Refused")
  const { manifestDocument: _, ...unread } = refused
  expect(declarationOf(unread)._tag).toBe("Refused")
})

test("a manifest is pinned by its digest, and a manifest that was not read is pinned by its snapshot and the reason", () => {
  expect(manifestPin(absent)).toEqual({})
  const { repositoryManifest } = carrier(valid)
  expect(manifestPin(carrier(valid)).manifestDigest).toBe(repositoryManifest.digest)
  const unread = (id: SourceSnapshotId, reason: string) =>
    manifestPin({ ...absent, id, repositoryManifest: { status: "invalid", reason } }).manifestDigest
  expect(unread(namedSnapshot("a"), "Too large.")).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(
    new Set([unread(namedSnapshot("a"), "a"), unread(namedSnapshot("b"), "a"), unread(namedSnapshot("a"), "b")]).size
  ).toBe(3)
})

test("a snapshot of a folder identifies its modules by their paths relative to the folder", () => {
  expect(declaredPaths(carrier(valid)).toSorted()).toEqual([".", "apps", "apps/web"])
  expect(declaredPaths(carrier(valid, "apps")).toSorted()).toEqual([".", "web"])
  expect(declaredPaths(carrier(valid, "app"))).toEqual([])
  expect(declaredPaths(carrier(broken))).toEqual([])
  expect(declaredPaths(absent)).toEqual([])
  expect(repositoryPathOf({ path: "apps" }, "web")).toBe("apps/web")
  expect(repositoryPathOf({ path: "apps" }, ".")).toBe("apps")
})
