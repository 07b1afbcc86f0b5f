// Reads the query of a hand-off link. It only fills in a form; the server checks every value again when something is created.

import { isReturnUri } from "../../../../schema/handoff/ReturnUri.ts"
import type { HandOff } from "../../app/HandOffs.ts"

export interface InstallLink {
  readonly url?: string
  readonly ref?: string
  readonly sourcePath?: string
  readonly modulePath?: string
  readonly name?: string
  readonly handOff?: HandOff
}

/** A document that offers several sources: a file in a repository. */
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

/** `.` or a plain relative folder: no empty, `.` or `..` part, no backslash, no drive, no slash at either end. */
export const isRelativePath = (path: string): boolean =>
  path === "." ||
  (path.length <= 1024 &&
    !/^[A-Za-z]:/.test(path) &&
    !path.includes("\\") &&
    !control.test(path) &&
    path.trim() === path &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== ".."))

/**
 * An https address without credentials, query or fragment. Plain http passes too: an operator may exempt a Git host, and
 * the server, which judged the link before, judges the address again.
 */
export const isGitUrl = (text: string): boolean => {
  if (control.test(text) || !URL.canParse(text)) return false
  const url = new URL(text)
  const isWeb = url.protocol === "https:" || url.protocol === "http:"
  return isWeb && url.username === "" && url.password === "" && url.search === "" && url.hash === ""
}

/** `git::https://host/repo.git//folder?ref=v1`, the packed address of a module. */
const unpack = (
  packed: string
): { readonly url: string; readonly folder?: string; readonly ref?: string } | undefined => {
  if (!packed.startsWith("git::")) return undefined
  const [address = "", query = ""] = packed.slice("git::".length).split("?", 2)
  const parameters = new URLSearchParams(query)
  for (const name of parameters.keys()) if (name !== "ref") return undefined
  const ref = parameters.get("ref") ?? undefined
  const at = address.indexOf("//", address.indexOf("://") + 3)
  const folder = at < 0 ? undefined : address.slice(at + 2)
  return {
    url: at < 0 ? address : address.slice(0, at),
    ...(folder === undefined ? {} : { folder }),
    ...(ref === undefined ? {} : { ref })
  }
}

const optionsFields: ReadonlySet<string> = new Set(["kind", "git", "path", "ref"])

const isRef = (ref: string): boolean => ref !== "" && ref.length <= 255 && !control.test(ref) && !ref.startsWith("-")

const readOptionsLink = (parameters: URLSearchParams): LinkReading => {
  const url = parameters.get("git")
  const path = parameters.get("path")
  const ref = parameters.get("ref")
  if (parameters.get("kind") !== "capsule-source-options") return refused("options")
  if ([...parameters.keys()].some((name) => !optionsFields.has(name))) return refused("unknown")
  if (url === null) return refused("source")
  if (!isGitUrl(url)) return refused("url")
  if (path === null || path === "." || !isRelativePath(path)) return refused("path")
  if (ref !== null && !isRef(ref)) return refused("ref")
  return { kind: "options", link: { url, path, ...(ref === null ? {} : { ref }) } }
}

/** `serviceOrigin` is this server's own: nothing is handed over to itself. */
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
  const unpacked = packed === undefined ? undefined : unpack(packed)
  if (packed !== undefined && unpacked === undefined) return refused("url")
  const url = git ?? unpacked?.url ?? ""
  if (!isGitUrl(url)) return refused("url")
  const sourcePath = value("sourcePath")
  const modulePath = value("path") ?? unpacked?.folder
  for (const path of [sourcePath, modulePath]) if (path !== undefined && !isRelativePath(path)) return refused("path")
  const ref = value("ref") ?? unpacked?.ref
  if (ref !== undefined && !isRef(ref)) return refused("ref")
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
