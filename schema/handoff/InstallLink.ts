import { Array as Arr, Result, Schema } from "effect"
import { type AddressRule, httpsOnly, normaliseAddress } from "../git/RepositoryAddress.ts"
import { normaliseRef } from "../git/RefName.ts"
import { RelativeFolder, RelativePath } from "../manifest/RelativePath.ts"
import { presentationText } from "../manifest/TextRules.ts"
import { forbiddenMaterial } from "../secret-material/SecretScan.ts"
import { type LinkProblem, type LinkProblemCode, LinkRefusal } from "./LinkRefusal.ts"
import { parsePackedSource } from "./PackedSource.ts"
import { isReturnUri } from "./ReturnUri.ts"
import { diagnosticPath } from "../manifest/DiagnosticPath.ts"

const maxQueryCharacters = 8192
const moduleInput = /^(?:var|varjson)\./

/** Returns the name of a query field in a form that is safe to show. */
const shownName = (name: string) => diagnosticPath([name]).slice(1)

/** Collects the problems of a link. */
class LinkProblems {
  readonly #problems: Array<LinkProblem> = []

  add(field: string, code: LinkProblemCode, message: string): void {
    this.#problems.push({ path: field === "" ? "" : shownName(field), code, message })
  }

  /** Returns the link if it has no problems. Otherwise rejects the whole link. */
  settle<Link>(link: Link | undefined): Result.Result<Link, LinkRefusal> {
    if (Arr.isReadonlyArrayNonEmpty(this.#problems)) return Result.fail(new LinkRefusal({ problems: this.#problems }))
    return link === undefined
      ? Result.fail(
          new LinkRefusal({ problems: [{ path: "", code: "not_a_link", message: "This is no install link." }] })
        )
      : Result.succeed(link)
  }
}

const decodeValue = (raw: string) => Result.try(() => decodeURIComponent(raw.replaceAll("+", " ")))

/**
 * Splits a raw query (without `?`) into its fields. Compares names as written, so an encoded name is unknown. Unknown, repeated,
 * empty and undecodable fields are problems.
 */
const readLinkQuery = (
  query: string,
  known: ReadonlySet<string>,
  problems: LinkProblems
): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  if (query.length > maxQueryCharacters) {
    problems.add("", "too_long", `A link holds at most ${maxQueryCharacters} characters of query.`)
    return fields
  }
  for (const piece of query === "" ? [] : query.split("&")) {
    const equals = piece.indexOf("=")
    const name = equals === -1 ? piece : piece.slice(0, equals)
    const value = decodeValue(equals === -1 ? "" : piece.slice(equals + 1))
    if (moduleInput.test(name)) {
      problems.add(name, "module_input", "Module inputs never travel in a link; they are entered in the form.")
    } else if (name === "") {
      problems.add("", "malformed_query", "A query field without a name.")
    } else if (!known.has(name)) {
      problems.add(name, "unknown_field", `A link of this kind has only the fields ${[...known].join(", ")}.`)
    } else if (fields.has(name)) {
      problems.add(name, "duplicate_field", "A field occurs once.")
    } else if (Result.isFailure(value) || value.success === "") {
      problems.add(name, "malformed_query", "A field has a value, percent-encoded as UTF-8.")
    } else {
      fields.set(name, value.success)
    }
  }
  return fields
}

/** The client that started a flow, and the URI that receives the result. */
export const HandoffTarget = Schema.Struct({ product: Schema.String, returnUri: Schema.String })
export type HandoffTarget = typeof HandoffTarget.Type

/**
 * A link that fills in the form for a new Capsule. `sourcePath` is the folder in the repository. `path`, if given, is the
 * module below that folder.
 */
export const InstallLink = Schema.TaggedStruct("Install", {
  git: Schema.String,
  ref: Schema.optionalKey(Schema.String),
  sourcePath: Schema.String,
  path: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  handoff: Schema.optionalKey(HandoffTarget)
})
export type InstallLink = typeof InstallLink.Type

/** A link to a source options document. The user selects one of the document's sources, and the creation flow starts. */
export const SourceOptionsLink = Schema.TaggedStruct("SourceOptions", {
  git: Schema.String,
  path: Schema.String,
  ref: Schema.optionalKey(Schema.String)
})
export type SourceOptionsLink = typeof SourceOptionsLink.Type

export const HandoffLink = Schema.Union([InstallLink, SourceOptionsLink])
export type HandoffLink = typeof HandoffLink.Type

/**
 * The host's limits for links. A return URI on `serviceOrigin` is rejected. Without `addresses`, Git addresses must use HTTPS.
 */
export interface LinkPolicy {
  readonly serviceOrigin?: string
  readonly addresses?: AddressRule
}

export const installPath = "/install"
export const newFlowPath = "/new"
export const sourceOptionsKind = "capsule-source-options"

const installFields = new Set(["git", "source", "ref", "sourcePath", "path", "name", "product", "return_uri"])
const sourceOptionsFields = new Set(["kind", "git", "path", "ref"])

const isFile = Schema.is(RelativePath)
const isFolder = Schema.is(RelativeFolder)
const isDisplayName = Schema.is(presentationText(160))
const productPattern = /^[a-z0-9][a-z0-9._:-]{0,63}$/

/** Returns true if the string is a client's product key (specification, Hand-off entry URL, rule 5). */
export const isProductKey = (text: string): boolean => productPattern.test(text)

type Fields = ReadonlyMap<string, string>

const checkField = (
  fields: Fields,
  name: string,
  accepts: (value: string) => boolean,
  refuse: (name: string) => void
): string | undefined => {
  const value = fields.get(name)
  if (value !== undefined && !accepts(value)) refuse(name)
  return value
}

/** Returns the ref in its normal form. */
const readRef = (fields: Fields, problems: LinkProblems) => {
  const written = fields.get("ref")
  const ref = written === undefined ? undefined : normaliseRef(written)
  if (written !== undefined && ref === undefined)
    problems.add("ref", "invalid_ref", "Expected a branch, tag or commit.")
  return ref
}

const rules = ({ addresses = httpsOnly }: LinkPolicy): AddressRule => addresses

/** Returns the address in its normal form. */
const readGit = (fields: Fields, policy: LinkPolicy, problems: LinkProblems) => {
  const written = fields.get("git")
  if (written === undefined) return undefined
  const git = normaliseAddress(written, rules(policy))
  if (git === undefined)
    problems.add("git", "invalid_git_url", "Expected an HTTPS Git URL without credentials, query or fragment.")
  return git
}

const readFolder = (fields: Fields, name: string, problems: LinkProblems) =>
  checkField(fields, name, isFolder, () =>
    problems.add(name, "invalid_path", "Expected `.` or a normalized relative folder such as modules/app.")
  )

/** Reads the repository from the field `git` or `source`, and the fields that qualify it. */
const readSource = (fields: Fields, policy: LinkPolicy, problems: LinkProblems) => {
  const git = readGit(fields, policy, problems)
  const source = fields.get("source")
  const own = { ref: readRef(fields, problems), path: readFolder(fields, "path", problems) }
  if (fields.has("git") && source !== undefined) {
    problems.add("source", "two_sources", "A link names its source by git or by source, not by both.")
  }
  if (source === undefined) {
    if (!fields.has("git")) problems.add("git", "missing_source", "A link names its source by git or source.")
    return { git, ...own }
  }
  const packed = parsePackedSource(source, rules(policy))
  if (packed === undefined) {
    problems.add("source", "invalid_source", "Expected git::https://host/repository//folder?ref=tag.")
    return undefined
  }
  for (const name of ["ref", "path"] as const) {
    if (packed[name] !== undefined && fields.has(name)) {
      problems.add(name, "conflicting_field", "The packed source already contains this.")
    }
  }
  if (packed.path !== undefined && fields.has("sourcePath")) {
    problems.add("sourcePath", "conflicting_field", "The packed source already contains the folder.")
  }
  return { git: packed.git, ref: own.ref ?? packed.ref, path: own.path ?? packed.path }
}

const readHandoff = (fields: Fields, policy: LinkPolicy, problems: LinkProblems): HandoffTarget | undefined => {
  const product = checkField(fields, "product", isProductKey, (name) =>
    problems.add(name, "invalid_product", `Expected a key that matches ${productPattern.source}.`)
  )
  const returnUri = checkField(
    fields,
    "return_uri",
    (value) => isReturnUri(value, policy.serviceOrigin),
    (name) =>
      problems.add(
        name,
        "invalid_return_uri",
        "Expected https://... of the client or <app-scheme>://..., without credentials, query or fragment."
      )
  )
  if (product !== undefined && returnUri === undefined) {
    problems.add("return_uri", "missing_return_uri", "product is used only together with return_uri.")
  }
  if (returnUri !== undefined && product === undefined) {
    problems.add("product", "missing_product", "return_uri is used only together with product.")
  }
  return product === undefined || returnUri === undefined ? undefined : { product, returnUri }
}

const readInstallLink = (query: string, policy: LinkPolicy): Result.Result<InstallLink, LinkRefusal> => {
  const problems = new LinkProblems()
  const fields = readLinkQuery(query, installFields, problems)
  const source = readSource(fields, policy, problems)
  const sourcePath = readFolder(fields, "sourcePath", problems) ?? "."
  const name = checkField(
    fields,
    "name",
    (value) => isDisplayName(value) && forbiddenMaterial(value) === undefined,
    (field) => problems.add(field, "invalid_name", "Expected a display name of 1 to 160 characters.")
  )
  const handoff = readHandoff(fields, policy, problems)
  const { git, path, ref } = source ?? {}
  const link =
    git === undefined
      ? undefined
      : InstallLink.make({
          git,
          sourcePath,
          ...(ref === undefined ? {} : { ref }),
          ...(path === undefined ? {} : { path }),
          ...(name === undefined ? {} : { name }),
          ...(handoff === undefined ? {} : { handoff })
        })
  return problems.settle(link)
}

const readSourceOptionsLink = (query: string, policy: LinkPolicy): Result.Result<SourceOptionsLink, LinkRefusal> => {
  const problems = new LinkProblems()
  const fields = readLinkQuery(query, sourceOptionsFields, problems)
  if (fields.has("kind") && fields.get("kind") !== sourceOptionsKind) {
    problems.add("kind", "invalid_kind", `Expected ${sourceOptionsKind}.`)
  }
  const git = readGit(fields, policy, problems)
  if (!fields.has("git")) problems.add("git", "missing_source", "A link names the repository of its document by git.")
  const path = checkField(fields, "path", isFile, (name) =>
    problems.add(name, "invalid_path", "Expected a normalized relative file such as install/options.json.")
  )
  if (path === undefined) problems.add("path", "missing_field", "A link names the file of its document by path.")
  const ref = readRef(fields, problems)
  const link =
    git === undefined || path === undefined
      ? undefined
      : SourceOptionsLink.make({ git, path, ...(ref === undefined ? {} : { ref }) })
  return problems.settle(link)
}

/**
 * Parses the raw query (after `?`, not decoded) of an `/install` request. A single unknown, repeated, missing or invalid field
 * makes the whole link invalid. A link creates nothing and grants no authority.
 */
export const parseInstallQuery = (query: string, policy: LinkPolicy = {}): Result.Result<HandoffLink, LinkRefusal> =>
  query.split("&").some((piece) => piece === "kind" || piece.startsWith("kind="))
    ? readSourceOptionsLink(query, policy)
    : readInstallLink(query, policy)

/**
 * Parses a complete link, `{base_url}/install?...`. Rejects a return URI on the link's own origin, whatever
 * `policy.serviceOrigin` is.
 */
export const parseInstallLink = (link: string, policy: LinkPolicy = {}): Result.Result<HandoffLink, LinkRefusal> => {
  const problems = new LinkProblems()
  const at = link.indexOf("?")
  const address = at === -1 ? link : link.slice(0, at)
  const query = at === -1 ? "" : link.slice(at + 1)
  const url = URL.parse(address)
  const isWeb = url !== null && (url.protocol === "https:" || url.protocol === "http:")
  if (!isWeb || address !== url.origin + installPath) {
    problems.add("", "not_a_link", `Expected the service's origin followed by ${installPath}?...`)
    return problems.settle<HandoffLink>(undefined)
  }
  if (query.includes("#")) {
    problems.add("", "malformed_query", "A link has no fragment.")
    return problems.settle<HandoffLink>(undefined)
  }
  return parseInstallQuery(query, { serviceOrigin: url.origin, ...policy })
}

const encodeQuery = (fields: ReadonlyArray<readonly [name: string, value: string | undefined]>) =>
  fields.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`])).join("&")

/** Formats a link as a canonical query, which `parseInstallQuery` can parse. Equal links give equal strings. */
export const formatInstallQuery = (link: HandoffLink): string =>
  link._tag === "SourceOptions"
    ? encodeQuery([
        ["kind", sourceOptionsKind],
        ["git", link.git],
        ["path", link.path],
        ["ref", link.ref]
      ])
    : encodeQuery([
        ["git", link.git],
        ["ref", link.ref],
        ["sourcePath", link.sourcePath === "." ? undefined : link.sourcePath],
        ["path", link.path],
        ["name", link.name],
        ["product", link.handoff?.product],
        ["return_uri", link.handoff?.returnUri]
      ])
