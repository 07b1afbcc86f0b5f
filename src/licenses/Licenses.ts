import { fileURLToPath } from "node:url"
import { Context, Effect, Schema } from "effect"
import { LicenseReportJson } from "./LicenseReport.ts"

/** Where a compiled binary keeps the report that `scripts/build.ts` made; nothing in a source checkout. */
export const EmbeddedLicenses = Context.Reference<string | undefined>("svc/licenses/EmbeddedLicenses", {
  defaultValue: () => undefined
})

const decodeReport = Schema.decodeUnknownEffect(LicenseReportJson)

const collected = Effect.gen(function* () {
  // Left out of compiled binaries: it bundles the sources to see which third-party code is in them.
  const { collectLicenses } = yield* Effect.promise(() => import("./CollectLicenses.ts"))
  return yield* collectLicenses(fileURLToPath(new URL("../..", import.meta.url)))
})

/** The licences of the running program: of a binary as built, of a checkout as it would be built now. */
export const licenses = Effect.gen(function* () {
  const embedded = yield* EmbeddedLicenses
  if (embedded === undefined) return yield* collected
  return yield* Effect.orDie(decodeReport(yield* Effect.promise(() => Bun.file(embedded).text())))
})
