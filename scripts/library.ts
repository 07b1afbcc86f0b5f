// Runs before every `npm pack` of the root: builds dist/library, the whole product as one package for Node and Bun, with its
// dashboard, and THIRD-PARTY-LICENSES.txt. `--quick` omits declarations and compresses less, for quickly inspecting what is
// packed.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path, Schema } from "effect"
import { buildDashboard } from "../src/dashboard/Build.ts"
import { collectLicenses } from "../src/licenses/CollectLicenses.ts"
import { LicenseReportJson, reportText, thirdPartyFile } from "../src/licenses/LicenseReport.ts"
import { licenseList } from "../src/licenses/Licenses.ts"
import { writeDashboard } from "./DashboardFolder.ts"
import { compileLibrary } from "./packages/Library.ts"

const encodeReport = Schema.encodeEffect(LicenseReportJson)

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const library = path.join(root, "dist/library")
  const isQuick = process.argv.includes("--quick")
  yield* compileLibrary(root, library, { declarations: !isQuick })
  yield* writeDashboard(path.join(library, "dashboard"), yield* buildDashboard(isQuick ? "fast" : "best"))
  const report = yield* collectLicenses(root)
  yield* files.writeFileString(path.join(library, licenseList), yield* encodeReport(report))
  yield* files.writeFileString(path.join(root, thirdPartyFile), reportText(report))
  // Standard output is reserved for the packer.
  yield* Console.error(`dist/library, and ${thirdPartyFile}: ${report.components.length} components`)
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
