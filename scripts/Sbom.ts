import { Effect, FileSystem, Path, Runtime, Schema } from "effect"
import type { Component, LicenseReport } from "../src/licenses/LicenseReport.ts"

/** The error when the bill of materials would be incomplete. */
class SbomIncomplete extends Schema.TaggedError<SbomIncomplete>()("SbomIncomplete", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const Lock = Schema.fromJsonString(
  Schema.Struct({
    packages: Schema.Record(
      Schema.String,
      Schema.Struct({ version: Schema.optional(Schema.String), integrity: Schema.optional(Schema.String) })
    )
  })
)

/** File name of the bill of materials, in a package or in the folder of a binary. */
export const sbomFile = "svc.cdx.json"

/** The lock files of what a binary contains: the product's, and the one of the generator of the documentation. */
const lockFiles = ["package-lock.json", "site/package-lock.json"]

const isPackage = ({ name, origin }: Component) => origin === `npm package ${name}`
const purlName = (name: string) => name.replace("@", "%40")

/** Converts an `integrity` of the lock file to a SHA-512 in hexadecimal. Returns `undefined` for any other algorithm. */
const sha512 = (integrity: string) =>
  integrity.startsWith("sha512-") ? Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex") : undefined

/** Formats a licence: as an `id` if it is a single SPDX identifier, otherwise as an `expression`. */
const licenses = (license: string) =>
  /^[\w.-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }]

const described = (component: Component, integrity: string | undefined) => {
  const { license, name, origin, version } = component
  const purl = isPackage(component) ? `pkg:npm/${purlName(name)}@${version}` : undefined
  return {
    type: "library",
    "bom-ref": purl ?? `${name}@${version}`,
    name,
    version,
    ...(integrity === undefined ? {} : { hashes: [{ alg: "SHA-512", content: integrity }] }),
    licenses: licenses(license),
    ...(purl === undefined ? { description: origin } : { purl })
  }
}

/**
 * Creates a binary's bill of materials, as CycloneDX 1.6. The bill of materials lists exactly the components whose licences
 * the binary contains, with the hashes from the lock file. It contains neither a date nor a random number, so the same
 * commit always produces the same bytes. Fails if a bundled package is missing from the lock file.
 */
export const billOfMaterials = Effect.fn("sbom.billOfMaterials")(function* (root: string, report: LicenseReport) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const locks = yield* Effect.forEach(lockFiles, (name) =>
    Effect.flatMap(files.readFileString(path.join(root, name)), Schema.decodeEffect(Lock))
  )
  const integrities = new Map(
    locks
      .flatMap(({ packages }) => Object.entries(packages))
      .map(([place, { integrity = "", version = "" }]) => [
        `${place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length)}@${version}`,
        sha512(integrity)
      ])
  )
  const unknown = report.components.filter(
    (one) => isPackage(one) && integrities.get(`${one.name}@${one.version}`) === undefined
  )
  if (unknown.length > 0) {
    const names = unknown.map(({ name, version }) => `${name}@${version}`).join(", ")
    return yield* new SbomIncomplete({ message: `The lock files have no SHA-512 for what is bundled: ${names}.` })
  }
  const { license, name, version } = report.product
  const product = { type: "application", "bom-ref": `${name}@${version}`, name, version, licenses: licenses(license) }
  const components = report.components.map((one) => described(one, integrities.get(`${one.name}@${one.version}`)))
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: product },
    components,
    dependencies: [{ ref: product["bom-ref"], dependsOn: components.map((one) => one["bom-ref"]) }]
  }
  return `${JSON.stringify(bill, undefined, 2)}\n`
})
