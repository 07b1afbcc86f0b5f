// Parses the query of a hand-off link. The link only fills in a form, and the server checks every value again when the
// Capsule is created.

import { normaliseRef } from "../../../../schema/git/RefName.ts"
import { anyScheme, normaliseAddress } from "../../../../schema/git/RepositoryAddress.ts"
import { parsePackedSource } from "../../../../schema/handoff/PackedSource.ts"
import { isReturnUri } from "../../../../schema/handoff/ReturnUri.ts"
import { isCanonicalRelativePath } from "../../../../schema/manifest/CanonicalPath.ts"
import type { HandOff } from "../../app/HandOffs.ts"

export interface InstallLink {
  readonly url?: string
  readonly ref?: string
  readonly sourcePath?: string
  readonly modulePath?: string
  readonly name?: string
  readonly handOff?: HandOff
}

/** A link to a file in a repository that lists several sources. */
export interface OptionsLink {
  readonly url: string
  readonly path: string
  readonly ref?: string
}

export type LinkProblem = "unknown" | "duplicate" | "source" | "url" | "path" | "ref" | "name" | "handOff" | "options"

export type LinkReading =
  | { readonly kind: "empty" }
  | { readonly kind: "link"; readonly link: InstallLink }
  | { readonly kind: "options"; readonly link: OptionsLink }
  | { readonly kind: "refused"; readonly problem: LinkProblem }

const known: ReadonlySet<string> = new Set([
  "git",
  "source",
  "ref",
  "sourcePath",
  "path",
  "name",
  "product",
  "return_uri",
  "kind"
])
const product = /^[a-z0-9][a-z0-9._:-]{0,63}$/
const control = /\p{Cc}/u

const refused = (problem: LinkProblem): LinkReading => ({ kind: "refused", problem })

/** Returns true for `.` or a canonical relative folder. */
const isFolder = (path: string): boolean => path === "." || isCanonicalRelativePath(path)

/** Plain HTTP is accepted too, because an operator may have exempted the Git host. The server checks the link again. */
const readGit = (text: string): string | undefined => normaliseAddress(text, anyScheme)

const optionsFields: ReadonlySet<string> = new Set(["kind", "git", "path", "ref"])

const readOptionsLink = (parameters: URLSearchParams): LinkReading => {
  const git = parameters.get("git")
  const path = parameters.get("path")
  const written = parameters.get("ref")
  if (parameters.get("kind") !== "capsule-source-options") return refused("options")
  if ([...parameters.keys()].some((name) => !optionsFields.has(name))) return refused("unknown")
  if (git === null) return refused("source")
  const url = readGit(git)
  if (url === undefined) return refused("url")
  if (path === null || !isCanonicalRelativePath(path)) return refused("path")
  const ref = written === null ? undefined : normaliseRef(written)
  if (written !== null && ref === undefined) return refused("ref")
  return { kind: "options", link: { url, path, ...(ref === undefined ? {} : { ref }) } }
}

/** `serviceOrigin` is this server's own origin, which cannot be a return address. */
export const readInstallLink = (search: string, serviceOrigin?: string): LinkReading => {
  const parameters = new URLSearchParams(search)
  const names = [...parameters.keys()]
  if (names.length === 0) return { kind: "empty" }
  if (names.some((name) => !known.has(name))) return refused("unknown")
  if (new Set(names).size !== names.length) return refused("duplicate")
  const value = (name: string): string | undefined => parameters.get(name) ?? undefined
  if (value("kind") !== undefined) return readOptionsLink(parameters)
  const git = value("git")
  const packed = value("source")
  if ((git === undefined) === (packed === undefined)) return refused("source")
  const unpacked = packed === undefined ? undefined : parsePackedSource(packed, anyScheme)
  const url = git === undefined ? unpacked?.git : readGit(git)
  if (url === undefined) return refused("url")
  const sourcePath = value("sourcePath")
  const modulePath = value("path") ?? unpacked?.path
  for (const path of [sourcePath, modulePath]) if (path !== undefined && !isFolder(path)) return refused("path")
  const written = value("ref")
  const ref = written === undefined ? unpacked?.ref : normaliseRef(written)
  if (written !== undefined && ref === undefined) return refused("ref")
  const name = value("name")
  if (name !== undefined && (name.trim() === "" || name.length > 160 || control.test(name))) return refused("name")
  const key = value("product")
  const returnUri = value("return_uri")
  if ((key === undefined) !== (returnUri === undefined)) return refused("handOff")
  if (key !== undefined && (!product.test(key) || !isReturnUri(returnUri ?? "", serviceOrigin)))
    return refused("handOff")
  return {
    kind: "link",
    link: {
      url,
      ...(ref === undefined ? {} : { ref }),
      ...(sourcePath === undefined ? {} : { sourcePath }),
      ...(modulePath === undefined ? {} : { modulePath }),
      ...(name === undefined ? {} : { name }),
      ...(key === undefined || returnUri === undefined ? {} : { handOff: { product: key, returnUri } })
    }
  }
}
