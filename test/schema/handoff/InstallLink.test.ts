import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import * as fc from "fast-check"
import { anyText } from "../../support/AnyText.ts"
import {
  formatInstallQuery,
  type HandoffLink,
  parseInstallLink,
  parseInstallQuery
} from "../../../schema/handoff/InstallLink.ts"

const origin = "https://svc.example"
const verdict = (link: string) =>
  Result.match(parseInstallLink(link, { serviceOrigin: origin }), {
    onSuccess: ({ _tag }) => `valid ${_tag}`,
    onFailure: ({ problems }) => problems.map(({ code, path }) => `${code} ${path}`).join("; ")
  })
const query = (text: string) => verdict(`${origin}/install?${text}`)
const git = "git=https://git.example/team/app"
const back = "product=app&return_uri=myapp://done"

test("the parser accepts the shortest install link", () => {
  expect(Result.getOrThrow(parseInstallQuery(git))).toEqual({
    _tag: "Install",
    git: "https://git.example/team/app",
    sourcePath: "."
  })
})

test("the parser accepts the longest install link", () => {
  const text =
    "git=https%3A%2F%2Fgit.example%2Fteam%2Fapp&ref=v1.2.0%2Bbuild&sourcePath=infra&path=modules/app&name=My+app%20%E5%90%8D&product=app&return_uri=https%3A%2F%2Fapp.example%2Fcb"
  expect(Result.getOrThrow(parseInstallQuery(text))).toEqual({
    _tag: "Install",
    git: "https://git.example/team/app",
    ref: "v1.2.0+build",
    sourcePath: "infra",
    path: "modules/app",
    name: "My app 名",
    handoff: { product: "app", returnUri: "https://app.example/cb" }
  })
})

test("a packed source means the same as separate link fields", () => {
  expect(
    Result.getOrThrow(parseInstallQuery("source=git::https://git.example/team/app.git//modules/app?ref=v1.2.0"))
  ).toEqual({
    _tag: "Install",
    git: "https://git.example/team/app.git",
    ref: "v1.2.0",
    sourcePath: ".",
    path: "modules/app"
  })
  expect(
    Result.getOrThrow(
      parseInstallQuery("source=git%3A%3Ahttps%3A%2F%2Fgit.example%2Fa&ref=main&sourcePath=infra&path=b")
    )
  ).toMatchObject({ ref: "main", sourcePath: "infra", path: "b" })
})

test.each([
  ["neither source (R2)", "ref=main", "missing_source git"],
  ["an empty query", "", "missing_source git"],
  ["both sources (R2)", `${git}&source=git::https://git.example/a`, "two_sources source"],
  ["a valid and an invalid source", `${git}&source=x`, "two_sources source; invalid_source source"],
  ["an invalid source", "source=https://git.example/a", "invalid_source source"],
  ["a ref given twice", "source=git::https://git.example/a?ref=x&ref=y", "conflicting_field ref"],
  ["a path given twice", "source=git::https://git.example/a//b&path=c", "conflicting_field path"],
  [
    "a packed path below another root",
    "source=git::https://git.example/a//b&sourcePath=c",
    "conflicting_field sourcePath"
  ],
  ["git by http", "git=http://git.example/a", "invalid_git_url git"],
  ["git with credentials", "git=https://u:p@git.example/a", "invalid_git_url git"],
  ["git empty (R2)", "git=", "malformed_query git; missing_source git"],
  ["git without =", "git", "malformed_query git; missing_source git"],
  ["a key twice (R2)", `${git}&${git}`, "duplicate_field git"],
  ["a key twice with the same empty value", `${git}&ref=&ref=`, "malformed_query ref; malformed_query ref"],
  ["an unknown key (R2)", `${git}&utm_source=x`, "unknown_field utm_source"],
  ["a key in another case", `${git}&Ref=main`, "unknown_field Ref"],
  ["an encoded key (R2)", "%67it=https://git.example/a", "unknown_field *; missing_source git"],
  ["a module input (R2)", `${git}&var.region=eu`, "module_input var.region"],
  ["a JSON module input (R2)", `${git}&varjson.sizes=%5B1%5D`, "module_input varjson.sizes"],
  ["an empty key", `${git}&=x`, "malformed_query "],
  ["an empty piece", `${git}&`, "malformed_query "],
  ["a prototype key (J4)", `${git}&__proto__=x&constructor=y`, "unknown_field __proto__; unknown_field constructor"],
  ["an array key (J14)", `${git}&ref[]=x`, "unknown_field *"],
  ["broken percent-encoding", `${git}&ref=%zz`, "malformed_query ref"],
  ["percent-encoding that is not UTF-8", `${git}&name=%ff`, "malformed_query name"],
  ["/install?=product", "=product", "malformed_query ; missing_source git"],
  ["/install?product", "product", "malformed_query product; missing_source git"],
  ["/install?product=app", "product=app", "missing_source git; missing_return_uri return_uri"],
  ["product without return_uri (R2)", `${git}&product=app`, "missing_return_uri return_uri"],
  ["return_uri without product (R2)", `${git}&return_uri=myapp://done`, "missing_product product"],
  ["both", `${git}&${back}`, "valid Install"],
  ["product of 64 characters", `${git}&product=${"a".repeat(64)}&return_uri=myapp://done`, "valid Install"],
  [
    "product of 65 characters (R2)",
    `${git}&product=${"a".repeat(65)}&return_uri=myapp://done`,
    "invalid_product product"
  ],
  ["product signs", `${git}&product=a.b_c:d-9&return_uri=myapp://done`, "valid Install"],
  ["product in upper case", `${git}&product=App&return_uri=myapp://done`, "invalid_product product"],
  ["product with a line feed (J10)", `${git}&product=app%0A&return_uri=myapp://done`, "invalid_product product"],
  [
    "return_uri of a script",
    `${git}&product=app&return_uri=javascript://x/%250aalert(1)`,
    "invalid_return_uri return_uri"
  ],
  ["return_uri on the service", `${git}&product=app&return_uri=https://svc.example/x`, "invalid_return_uri return_uri"],
  ["return_uri with a query", `${git}&product=app&return_uri=https://a.example/x%3Fy`, "invalid_return_uri return_uri"],
  ["ref that is an option (G7)", `${git}&ref=--upload-pack=x`, "invalid_ref ref"],
  ["path .", `${git}&path=.&sourcePath=.`, "valid Install"],
  ...[
    "../x",
    "/etc",
    "C:%5Cx",
    "a//b",
    "a/./b",
    "a%5Cb",
    "a/",
    "a%00b",
    "%20a",
    "%2e%2e",
    "%252e%252e/a",
    "e%CC%81"
  ].map((path) => [`path ${path} (G8)`, `${git}&path=${path}`, "invalid_path path"]),
  ...["../x", "/etc", "a/", "./a"].map((path) => [
    `sourcePath ${path} (G8)`,
    `${git}&sourcePath=${path}`,
    "invalid_path sourcePath"
  ]),
  ["name of 160 characters", `${git}&name=${"a".repeat(160)}`, "valid Install"],
  ["name of 161 characters", `${git}&name=${"a".repeat(161)}`, "invalid_name name"],
  ["blank name", `${git}&name=+`, "invalid_name name"],
  ["name with a control character", `${git}&name=a%1b%5b2Jb`, "invalid_name name"],
  ["a secret as a name", `${git}&name=token%3Dabcdef`, "invalid_name name"],
  ["kind of something else", `kind=other&${git}&path=a.json`, "invalid_kind kind"],
  ["source options", `kind=capsule-source-options&${git}&path=install/options.json`, "valid SourceOptions"],
  ["source options with a ref", `kind=capsule-source-options&${git}&path=a.json&ref=main`, "valid SourceOptions"],
  ["source options without git", "kind=capsule-source-options&path=a.json", "missing_source git"],
  ["source options without path", `kind=capsule-source-options&${git}`, "missing_field path"],
  ["source options of the root", `kind=capsule-source-options&${git}&path=.`, "invalid_path path"],
  [
    "source options with a return address",
    `kind=capsule-source-options&${git}&path=a.json&${back}`,
    "unknown_field product; unknown_field return_uri"
  ],
  [
    "source options with a packed source",
    "kind=capsule-source-options&source=git::https://git.example/a&path=a.json",
    "unknown_field source; missing_source git"
  ],
  ["kind twice", `kind=capsule-source-options&kind=capsule-source-options&${git}&path=a.json`, "duplicate_field kind"],
  ["8,193 characters", `${git}&name=${"a".repeat(8193 - git.length - 6)}`, "too_long ; missing_source git"]
])("%s", (_, text, expected) => {
  expect(query(text ?? "")).toBe(String(expected))
})

test.each([
  "/install?git=https://git.example/a",
  "https://svc.example/new?git=https://git.example/a",
  "https://svc.example/install/?git=https://git.example/a",
  "https://svc.example/a/../install?git=https://git.example/a",
  "https://u:p@svc.example/install?git=https://git.example/a",
  "javascript:/install?git=https://git.example/a",
  "https://svc.example/INSTALL?git=https://git.example/a",
  ""
])("the install link %s is refused", (link) => {
  expect(verdict(link)).toBe("not_a_link ")
})

test("a fragment is not part of an install link", () => {
  expect(verdict(`${origin}/install?${git}#x`)).toBe("malformed_query ")
  expect(verdict(`${origin}/install#x`)).toBe("not_a_link ")
})

test("the error about an install link never repeats the link", () => {
  const refused = parseInstallQuery(
    "git=https://canary:canary@h.example/a&ref=-canary&path=../canary&name=token%3Dcanary&product=CANARY&return_uri=canary&var.x=canary&ghp_0123456789abcdefABCD=1"
  )
  expect(JSON.stringify(Result.isFailure(refused) ? [refused.failure, refused.failure.message] : refused)).not.toMatch(
    /canary|ghp_/i
  )
})

describe("Install link round trips", () => {
  const folder = fc.constantFrom("a", "modules/app", "infra/日本", "a b/c+d&e=f")
  const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
  const links: fc.Arbitrary<HandoffLink> = fc.oneof(
    fc
      .record({
        git: fc.constantFrom("https://git.example/a", "https://git.example:8443/a/b%20c.git"),
        ref: some(fc.constantFrom("main", "v1.0.0+build", "日本/x")),
        sourcePath: fc.oneof(fc.constant("."), folder),
        path: some(fc.oneof(fc.constant("."), folder)),
        name: some(fc.constantFrom("App", "名 & 前 = ?#%+")),
        handoff: some(
          fc.constantFrom(
            { product: "app", returnUri: "myapp://x/y" },
            { product: "a.b:c", returnUri: "https://app.example/cb" }
          )
        )
      })
      .map(
        ({ git, handoff, name, path, ref, sourcePath }): HandoffLink => ({
          _tag: "Install",
          git,
          sourcePath,
          ...(ref === undefined ? {} : { ref }),
          ...(path === undefined ? {} : { path }),
          ...(name === undefined ? {} : { name }),
          ...(handoff === undefined ? {} : { handoff })
        })
      ),
    fc
      .record({ git: fc.constant("https://git.example/a"), path: folder })
      .map((link): HandoffLink => ({ _tag: "SourceOptions", ...link }))
  )

  test("every install link round-trips unchanged, with a single spelling", () => {
    fc.assert(
      fc.property(links, (link) => {
        const again = Result.getOrThrow(
          parseInstallLink(`${origin}/install?${formatInstallQuery(link)}`, { serviceOrigin: origin })
        )
        expect(again).toEqual(link)
        expect(formatInstallQuery(again)).toBe(formatInstallQuery(link))
      }),
      { numRuns: 200 }
    )
  })

  test("the link parser never throws, and writes every accepted string back as the same link", () => {
    const pieces = fc.oneof(
      fc.constantFrom(
        git,
        "ref=main",
        "path=a/b",
        back,
        "kind=capsule-source-options",
        "source=git::https://git.example/a",
        "name=x",
        "&",
        "=",
        "%",
        "?"
      ),
      anyText(8)
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), (parts) => {
        const parsed = parseInstallQuery(parts.join("&"))
        if (Result.isSuccess(parsed)) {
          expect(Result.getOrThrow(parseInstallQuery(formatInstallQuery(parsed.success)))).toEqual(parsed.success)
        }
      }),
      { numRuns: 1000 }
    )
  })
})
