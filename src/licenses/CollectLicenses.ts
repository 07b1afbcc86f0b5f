import { gunzipSync } from "node:zlib"
import { Effect, FileSystem, Path, Schema } from "effect"
import { version } from "../Version.ts"
import { licenseProblem } from "./AllowedLicenses.ts"
import { bundledPackages } from "./BundledPackages.ts"
import type { Component, LicenseReport } from "./LicenseReport.ts"
import { goItself, type KnownText, missingTexts, type OtherComponent, parserModules } from "./OtherComponents.ts"
import { runtimeComponents } from "./RuntimeComponents.ts"

/** Raised if a shipped component has no licence text, or has a licence that is not allowed. */
export class LicensesIncomplete extends Schema.TaggedError<LicensesIncomplete>()("LicensesIncomplete", {
  message: Schema.String
}) {}

const Manifest = Schema.fromJsonString(
  Schema.Struct({ name: Schema.String, version: Schema.String, license: Schema.optionalKey(Schema.String) })
)
const decodeManifest = Schema.decodeUnknownEffect(Manifest)

const isLicenseFile = (name: string) => /^(?:licen[sc]e|copying|notice|unlicense)(?:[-.]|$)/i.test(name)
const parserFile = "node_modules/@cdktn/hcl2json/main.wasm.gz"
const sourcePath = /[A-Za-z0-9._/@+-]+/g
const hostName = /^[a-z0-9-]+(?:\.[a-z]+)+$/
const moduleVersion = /^v[0-9][A-Za-z0-9.+-]*/

/** Returns the Go modules listed in a program's source file tables, and the Go version that compiled it. */
export const goModulesOf = (program: string): ReadonlyMap<string, string> => {
  const modules = new Map<string, string>()
  for (const [path] of program.matchAll(sourcePath)) {
    const at = path.indexOf("@")
    const [version] = at === -1 ? [] : (moduleVersion.exec(path.slice(at + 1)) ?? [])
    if (version === undefined) continue
    const segments = path.slice(0, at).split("/")
    const host = segments.findIndex((segment) => hostName.test(segment))
    if (host !== -1 && host < segments.length - 1) modules.set(segments.slice(host).join("/"), version.slice(1))
  }
  const go = /go(1\.\d+(?:\.\d+)?)/.exec(program)?.[1]
  if (go !== undefined) modules.set(goItself.name, go)
  return modules
}

/**
 * Returns all shipped third-party components with their texts. `ofDocs` are the folders of the packages in the documentation,
 * which only a binary contains. Fails if a text is missing or a licence is not allowed.
 */
export const collectLicenses = Effect.fn("collectLicenses")(function* (
  root: string,
  ofDocs: ReadonlyArray<string> = []
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const read = (file: string) => files.readFileString(path.join(root, file))

  const known = ({ copyright, file }: KnownText) =>
    Effect.map(read(file), (text) => ({ file, text: copyright === undefined ? text : `${copyright}\n\n${text}` }))

  const ofPackage = Effect.fnUntraced(function* (folder: string) {
    const { license = "", name, version } = yield* decodeManifest(yield* read(`${folder}/package.json`))
    const own = (yield* files.readDirectory(path.join(root, folder))).filter(isLicenseFile).toSorted()
    const texts = [
      ...(yield* Effect.forEach(own, (file) => Effect.map(read(`${folder}/${file}`), (text) => ({ file, text })))),
      ...(own.length > 0 ? [] : yield* Effect.forEach(missingTexts[name] ?? [], known))
    ]
    const [first, ...others] = texts.filter(({ text }) => text.trim() !== "")
    if (first === undefined) {
      return yield* new LicensesIncomplete({
        message: `${name} ${version} is shipped without the text of its licence.`
      })
    }
    return { name, version, license, origin: `npm package ${name}`, texts: [first, ...others] } satisfies Component
  })

  const ofOther = Effect.fnUntraced(function* (other: OtherComponent, version: string) {
    const [first, ...others] = other.texts
    return {
      ...other,
      version,
      texts: [yield* known(first), ...(yield* Effect.forEach(others, known))]
    } satisfies Component
  })

  /** Lists the Go modules of the parser. Fails if a module is unknown. */
  const ofParser = Effect.gen(function* () {
    const program = gunzipSync(yield* files.readFile(path.join(root, parserFile))).toString("latin1")
    const listed = new Map([...parserModules, goItself].map((one) => [one.name, one]))
    const ofModule = Effect.fnUntraced(function* ([name, version]: readonly [string, string]) {
      const found = listed.get(name)
      if (found !== undefined) return yield* ofOther(found, version)
      return yield* new LicensesIncomplete({
        message: `The HCL parser holds ${name} ${version}, whose licence is not known.`
      })
    })
    return yield* Effect.forEach(goModulesOf(program), ofModule)
  })

  const folders = [...(yield* bundledPackages(root)), ...ofDocs]
  const packages = yield* Effect.forEach(folders, ofPackage)
  const parser = yield* ofParser
  const runtime = yield* Effect.forEach(runtimeComponents, (one) => ofOther(one, `with Bun ${Bun.version}`))
  const all: ReadonlyArray<Component> = [...packages, ...parser, ...runtime]
  const problems = all.flatMap((component) => licenseProblem(component) ?? [])
  const unique = [...new Map(all.map((component) => [`${component.name} ${component.version}`, component])).values()]
  const [first, ...others] = unique.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  if (first === undefined || problems.length > 0) return yield* new LicensesIncomplete({ message: problems.join("\n") })
  const report: LicenseReport = {
    product: {
      name: "svc",
      version,
      license: "Apache-2.0",
      text: yield* read("LICENSE"),
      notice: yield* read("NOTICE")
    },
    components: [first, ...others]
  }
  return report
})
