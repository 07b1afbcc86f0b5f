import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { Context, Effect, Schema } from "effect"
import { LicenseReportJson } from "./LicenseReport.ts"

/**
 * File name of the report at the root of a built library. The report covers all code that the package contains and all its
 * dependencies.
 */
export const licenseList = "Licenses.json"

/**
 * Path of the report that was built with this program, in a compiled binary or in the package of a built library. `undefined` in
 * a source checkout.
 */
export const EmbeddedLicenses = Context.Reference<string | undefined>("svc/src/licenses/EmbeddedLicenses", {
  defaultValue: () =>
    import.meta.url.endsWith(".ts") ? undefined : fileURLToPath(new URL(`../../${licenseList}`, import.meta.url))
})

const decodeReport = Schema.decodeUnknownEffect(LicenseReportJson)

const collected = Effect.gen(function* () {
  // Compiled binaries and packages exclude this module, which bundles the sources to find their third-party code.
  const { collectLicenses } = yield* Effect.promise(() => import("./CollectLicenses.ts"))
  return yield* collectLicenses(fileURLToPath(new URL("../..", import.meta.url)))
})

/**
 * Returns the licences of the running program: for a binary or package, the licences at build time; for a checkout, the licences
 * that a build would contain now.
 */
export const licenses = Effect.gen(function* () {
  const embedded = yield* EmbeddedLicenses
  if (embedded === undefined) return yield* collected
  return yield* Effect.orDie(decodeReport(yield* Effect.promise(() => readFile(embedded, "utf8"))))
})
