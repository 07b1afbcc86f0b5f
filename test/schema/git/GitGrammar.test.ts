import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Option, Result, Schema } from "effect"
import { fetchableAddress, fetchRule } from "../../../runner/git/FetchPolicy.ts"
import { storedRef } from "../../../runner/git/RefTarget.ts"
import { CreateInstallPlan, CreateRevisionPlan } from "../../../schema/api/InstallPlansApi.ts"
import { CreateSource, ResolveStableSemver, UpdateSource } from "../../../schema/api/SourcesApi.ts"
import { PublicGitAddress } from "../../../schema/manifest/PublicGitAddress.ts"
import { PublicGitRef } from "../../../schema/manifest/PublicGitRef.ts"
import { httpsOnly, isSameRepository } from "../../../schema/git/RepositoryAddress.ts"
import { parseInstallQuery } from "../../../schema/handoff/InstallLink.ts"
import { parsePackedSource } from "../../../schema/handoff/PackedSource.ts"
import { parseSourceOptions } from "../../../schema/manifest/SourceOptions.ts"
import { linkVerdict } from "../../../schema/manifest/Verdict.ts"
import { GivenConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import { GivenCredentialOrigin } from "../../../schema/records/CredentialOrigin.ts"
import { serverOf } from "../../../src/dashboard/screens/connections/ConnectionDraft.ts"
import { readInstallLink } from "../../../src/dashboard/screens/install/InstallLink.ts"
import { regexLiterals } from "../RegexLiterals.ts"

const root = join(import.meta.dir, "../../..")
const repository = "https://h.example/a"
const policy = { allowOrigins: [] }
const q = encodeURIComponent

const link = (query: string) => Result.getOrUndefined(parseInstallQuery(query, { addresses: fetchRule(policy) }))
const form = (query: string) => {
  const reading = readInstallLink(query)
  return reading.kind === "link" ? reading.link : undefined
}
const options = (source: { readonly url?: string; readonly ref?: string }) =>
  parseSourceOptions(
    new TextEncoder().encode(
      JSON.stringify({
        apiVersion: "install.svc.com/v1alpha1",
        kind: "CapsuleSourceOptions",
        metadata: { name: "a", title: "A" },
        options: [{ id: "a", title: "A", source: { url: repository, path: ".", ...source } }]
      })
    )
  )
const source = (fields: object) =>
  Option.getOrUndefined(
    Schema.decodeUnknownOption(CreateSource)({
      workspaceId: `ws_${"a".repeat(26)}`,
      name: "a",
      url: repository,
      ...fields
    })
  )
const plan = (fields: object) =>
  Option.getOrUndefined(
    Schema.decodeUnknownOption(CreateInstallPlan)({
      source: { name: "a", url: repository, ...fields },
      capsule: { name: "a", environment: "main" }
    })
  )

type Entrance = (text: string) => string | undefined

/** All schemas and functions that accept a repository address, and the form that they store. */
const addresses: Readonly<Record<string, Entrance>> = {
  "an install link": (text) => link(`git=${q(text)}`)?.git,
  "a link to options": (text) => link(`kind=capsule-source-options&path=o.json&git=${q(text)}`)?.git,
  "the form of the dashboard": (text) => form(`?git=${q(text)}`)?.url,
  "POST sources": (text) => source({ url: text })?.url,
  "POST install-plans": (text) => plan({ url: text })?.source.url,
  "POST stable-semver": (text) =>
    Option.getOrUndefined(Schema.decodeUnknownOption(ResolveStableSemver)({ url: text }))?.url,
  "a fetch": (text) => Result.getOrUndefined(fetchableAddress(text, policy))
}

/** Code that accepts or rejects an address, but stores another form of the address or no address. */
const addressVerdicts: Readonly<Record<string, (text: string) => boolean>> = {
  "svc link check": (text) => linkVerdict(`https://svc.example/install?git=${q(text)}`).status === "valid",
  "svc options check": (text) => Result.isSuccess(options({ url: text })),
  "the origins of a Connection": (text) => Option.isSome(Schema.decodeOption(GivenCredentialOrigin)(text)),
  // The dashboard's form trims its input.
  "the server beside the form": (text) => text.trim() === text && serverOf(text) !== ""
}

const accepted: ReadonlyArray<readonly [text: string, normalForm: string]> = [
  ["https://h.example/a", "https://h.example/a"],
  ["https://h.example/a.git", "https://h.example/a.git"],
  ["https://h.example/a.git/", "https://h.example/a.git"],
  ["https://h.example:443/a", "https://h.example/a"],
  ["https://H.Example/A", "https://h.example/A"],
  ["https://H.EXAMPLE:443/a/", "https://h.example/a"],
  ["https://h.example:8443/a/b/c", "https://h.example:8443/a/b/c"],
  ["https://xn--bcher-kva.example/a", "https://xn--bcher-kva.example/a"],
  ["https://git_server.example/a", "https://git_server.example/a"],
  ["https://93.184.216.34/a", "https://93.184.216.34/a"],
  ["https://[2606:2800:220:1::1]/a", "https://[2606:2800:220:1::1]/a"],
  ["https://[2606:2800:220:1::AB]/a", "https://[2606:2800:220:1::ab]/a"],
  ["https://h.example/~team/a%20b", "https://h.example/~team/a%20b"],
  ["https://h.example/a@b,c=d+e", "https://h.example/a@b,c=d+e"],
  ["https://git.example.com:8443/a/b/c.git", "https://git.example.com:8443/a/b/c.git"],
  ["https://h.example/...", "https://h.example/..."]
]

const refused: ReadonlyArray<string> = [
  "",
  "h.example/a",
  "HTTPS://h.example/a",
  "https:h.example/a",
  "https:///h.example/a",
  "git://h.example/a",
  "file:///a",
  "git@h.example:a/b",
  "javascript:alert(1)",
  "https://u@h.example/a",
  "https://u:p@h.example/a",
  "https://@h.example/a",
  "https://h.example@evil.example/a",
  "https://h.example\\@evil.example/a",
  "https://h.example:/a",
  "https://h.example:0/a",
  "https://h.example:0443/a",
  "https://h.example:99999/a",
  "https://h.example./a",
  "https://.h.example/a",
  "https://h..example/a",
  "https://-h.example/a",
  "https://+h.example/a",
  "https://h-.example/a",
  "https://*.example/a",
  "https://h!.example/a",
  "https://127.1/a",
  "https://0x7f.1/a",
  "https://2130706433/a",
  "https://[2606:2800:220:1::1/a",
  "https://bücher.example/a",
  "https://１27.0.0.1/a",
  "https://h.exa\u200bmple/a",
  "https://h.example/a\u200b",
  "https://h.example/a\u202eb",
  "https://h.example/é",
  "https://h.example/a b",
  " https://h.example/a",
  "https://h.example/a ",
  "https://h.example/a\n",
  "https://h.example//a",
  "https://h.example/a//b",
  "https://h.example/a//",
  "https://h.example/./a",
  "https://h.example/a/../b",
  "https://h.example/a/..",
  "https://h.example/%2e%2e/a",
  "https://h.example/a%2fb",
  "https://h.example/a%2Fb",
  "https://h.example/a%5cb",
  "https://h.example/a%00",
  "https://h.example/a%252fb",
  "https://h.example/a%zz",
  "https://h.example/a%",
  "https://h.example/a\\b",
  "https://h.example/a|b",
  "https://h.example/a^b",
  "https://h.example/a{b}",
  'https://h.example/a"b',
  "https://h.example/[a]",
  "https://h.example/a?",
  "https://h.example/a?b=c",
  "https://h.example/a#",
  "https://h.example/a#b",
  "git://github.com/a",
  "ssh://git@github.com/a",
  "ext::sh -c x",
  "https://h@evil.example",
  "https://h\\@evil.example/r",
  "https://h#@evil.example/r",
  "ht\ntps://h.example/r",
  "https://h.example/a?b",
  "https://é.example/a",
  "https://0177.0.0.1/a",
  "https://h_\u0000.example/a",
  `https://h.example/${"a".repeat(2048)}`
]

describe("Repository addresses", () => {
  test.each([...accepted])("all code agrees that the address %s is %s", (text, normalForm) => {
    for (const [name, entrance] of Object.entries(addresses)) expect([name, entrance(text)]).toEqual([name, normalForm])
    for (const [name, entrance] of Object.entries(addressVerdicts)) expect([name, entrance(text)]).toEqual([name, true])
    expect(parsePackedSource(`git::${text}`, httpsOnly)?.git ?? normalForm).toBe(normalForm)
    expect(isSameRepository(text, normalForm)).toBe(true)
  })

  test.each(refused.map((text) => [JSON.stringify(text.slice(0, 60)), text] as const))(
    "all code rejects the address %s",
    (_shown, text) => {
      for (const [name, entrance] of Object.entries(addresses))
        expect([name, entrance(text)]).toEqual([name, undefined])
      for (const [name, entrance] of Object.entries(addressVerdicts))
        expect([name, entrance(text)]).toEqual([name, false])
    }
  )

  test("a document may refer only to public servers, over HTTPS", () => {
    const isPublic = Schema.is(PublicGitAddress)
    expect(accepted.filter(([text]) => !isPublic(text))).toEqual([])
    expect(
      [...refused, "http://h.example/a", "https://h.example", "https://h.example/"].filter((text) => isPublic(text))
    ).toEqual([])
    expect(isPublic("https://[2001:db8::1]/a")).toBe(true)
  })

  test("the network policy applies equally to links and fetches", () => {
    for (const text of ["http://h.example/a", "https://127.0.0.1/a", "https://[::1]/a", "https://h.example:22/a"]) {
      expect([text, link(`git=${q(text)}`)?.git]).toEqual([text, undefined])
      expect([text, addresses["a fetch"]?.(text)]).toEqual([text, undefined])
    }
  })
})

const use = (ref: string) =>
  Option.getOrUndefined(Schema.decodeUnknownOption(GivenConnectionUse)({ roles: ["owner"], refs: [ref] }))

/** All schemas and functions that accept a ref. */
const refs: Readonly<Record<string, Entrance>> = {
  "an install link": (text) => link(`git=${q(repository)}&ref=${q(text)}`)?.ref,
  "a link to options": (text) =>
    link(`kind=capsule-source-options&path=o.json&git=${q(repository)}&ref=${q(text)}`)?.ref,
  "the form of the dashboard": (text) => form(`?git=${q(repository)}&ref=${q(text)}`)?.ref,
  "POST sources": (text) => source({ defaultRef: text })?.defaultRef,
  "PATCH a Source": (text) =>
    Option.getOrUndefined(Schema.decodeUnknownOption(UpdateSource)({ defaultRef: text }))?.defaultRef,
  "POST install-plans": (text) => plan({ ref: text })?.source.ref,
  "POST revision-plans": (text) =>
    Option.getOrUndefined(Schema.decodeUnknownOption(CreateRevisionPlan)({ ref: text }))?.ref,
  "the refs of a Connection": (text) => use(text)?.refs?.[0],
  "a fetch": (text) => Result.getOrUndefined(storedRef(text))
}

const commit = "0123456789abcdef0123456789abcdef01234567"

const acceptedRefs: ReadonlyArray<readonly [text: string, normalForm: string]> = [
  ...[
    "HEAD",
    "main",
    "v1.2.3",
    "1.0.0+build",
    "a@b",
    "a%2fb",
    "feature/a-b_c",
    "release/2026",
    "日本",
    "réf",
    "a./b",
    "a\u00a0b",
    "main\u3000コピー",
    "e\u0301"
  ].map((ref) => [ref, ref] as const),
  ...["refs/heads/main", "refs/tags/v1", "refs/pull/1/head", "heads/v1", commit].map((ref) => [ref, ref] as const),
  [commit.toUpperCase(), commit],
  ["x".repeat(255), "x".repeat(255)]
]

const refusedRefs: ReadonlyArray<string> = [
  "",
  "-c",
  "--upload-pack=touch",
  "@",
  "@{u}",
  "a@{1}",
  "a..b",
  "refs/../x",
  "refs/",
  "refs/x",
  "refs/heads/",
  "x.lock",
  "a/x.lock/b",
  ".a",
  "a/.b",
  "a.",
  "/a",
  "a/",
  "a//b",
  "a b",
  " a",
  "a\tb",
  "a\nb",
  "a~1",
  "a^",
  "a:b",
  "a?",
  "a*",
  "a[b",
  "a\\b",
  "a\u0000b",
  "a\u007f",
  "a\u200bb",
  "\u200b",
  "a\u00adb",
  "a\u202eb",
  "a\ufeffb",
  "a\u115fb",
  "a\u200db",
  "a\ufe0f",
  "a\u2028b",
  "a\ud800",
  "x".repeat(256),
  "é".repeat(128)
]

const pieces = [
  "a",
  "b.",
  ".",
  "..",
  "/",
  "-",
  "@",
  "{",
  "@{",
  ".lock",
  "~",
  "^",
  ":",
  "?",
  "*",
  "[",
  "\\",
  " ",
  "\t",
  "\u00a0",
  "\u3000",
  "é",
  "e\u0301",
  "\u0085"
]

describe("a ref", () => {
  test.skipIf(Bun.which("git") === null)(
    "a ref is accepted if Git accepts it, except options and invisible characters",
    () => {
      fc.assert(
        fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }), (parts) => {
          const text = parts.join("")
          if (text.startsWith("-") || text.includes("\u0085")) return
          const { exitCode } = Bun.spawnSync(["git", "check-ref-format", "--allow-onelevel", text])
          expect([text, Result.isSuccess(storedRef(text))]).toEqual([text, exitCode === 0])
        }),
        { numRuns: 150 }
      )
    }
  )

  test("a ref in a document must follow the same rules as a ref anywhere else", () => {
    const isPublic = Schema.is(PublicGitRef)
    expect(acceptedRefs.filter(([text, normalForm]) => text === normalForm && !isPublic(text))).toEqual([])
    expect(refusedRefs.filter((text) => isPublic(text))).toEqual([])
  })

  test.each([...acceptedRefs])("all code agrees that the ref %s is %s", (text, normalForm) => {
    for (const [name, entrance] of Object.entries(refs)) expect([name, entrance(text)]).toEqual([name, normalForm])
    expect(Result.isSuccess(options({ ref: text }))).toBe(true)
  })

  test.each(refusedRefs.map((text) => [JSON.stringify(text.slice(0, 30)), text] as const))(
    "all code rejects the ref %s",
    (_shown, text) => {
      // A link cannot contain a lone surrogate.
      if (text.isWellFormed())
        for (const [name, entrance] of Object.entries(refs)) expect([name, entrance(text)]).toEqual([name, undefined])
      expect(Result.isSuccess(storedRef(text))).toBe(false)
      expect(Result.isSuccess(options({ ref: text }))).toBe(false)
    }
  )
})

/** Regular expressions for addresses that are not repository addresses, keyed by subject. */
const ofOtherAddresses: ReadonlyMap<string, string> = new Map([
  ["runner/scan/ModuleSource.ts", "the sources of module calls, which are never fetched"],
  ["runner/git/PullRequestRefs.ts", "the number of a pull request among the refs that a server lists"],
  ["runner/git/StableVersion.ts", "version tags among the refs that a server lists"]
])

test("only schema/git contains a grammar for repository addresses and refs", () => {
  const sources = ["schema", "runner", "actors", "src"].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => `${room}/${path.replaceAll("\\", "/")}`)
  )
  const others = sources.filter((path) => !path.startsWith("schema/git/"))
  const found = new Set<string>()
  const second = others.flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8")
    const expressions = regexLiterals(text).map(({ source }) => source)
    const ofAddresses = expressions.filter((one) => /^\^?\(*(?:\?:)?(?:https|ssh|git).*:\\\/\\\//.test(one))
    const ofRefs = expressions.filter((one) => one.includes("~^:") || /\.lock|refs\\\//.test(one))
    const made = /\b(?:GitAddress|GitRef)\.make\(/.test(text) ? ["make"] : []
    if (ofAddresses.length + ofRefs.length > 0) found.add(path)
    return [...(ofOtherAddresses.has(path) ? [] : [...ofAddresses, ...ofRefs]), ...made].map((one) => `${path}: ${one}`)
  })
  expect(second).toEqual([])
  expect([...found].sort()).toEqual([...ofOtherAddresses.keys()].sort())
  expect(sources.length).toBeGreaterThan(500)
})
