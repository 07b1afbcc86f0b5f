import { Effect, FileSystem, Path } from "effect"
import { buildDashboard, type Effort } from "../../src/dashboard/Build.ts"
import { dashboardList } from "../../src/dashboard/PrebuiltDashboard.ts"
import { collectLicenses } from "../../src/licenses/CollectLicenses.ts"
import { reportText, thirdPartyFile } from "../../src/licenses/LicenseReport.ts"
import { packageScope } from "../../src/PackageScope.ts"
import { version } from "../../src/Version.ts"
import { writeDashboard } from "../DashboardFolder.ts"
import { writeReadme } from "./PackageReadme.ts"

const manifest = {
  name: `${packageScope}/dashboard`,
  version,
  description: "The pages of svc, built: files that the server reads",
  license: "Apache-2.0",
  type: "module",
  // Private until the npm scope is registered. The documentation explains how to install the tarballs.
  private: true,
  exports: { [`./${dashboardList}`]: `./${dashboardList}`, "./package.json": "./package.json" },
  files: [dashboardList, "identity", "br", "gzip", "docs", "NOTICE", thirdPartyFile]
}

/** Assembles the dashboard package, which only contains assets. */
export const dashboardPackage = Effect.fn("dashboardPackage")(function* (root: string, folder: string, effort: Effort) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* writeDashboard(folder, yield* buildDashboard(effort))
  const report = yield* collectLicenses(root)
  const write = (name: string, text: string) => files.writeFileString(path.join(folder, name), text)
  yield* write("package.json", `${JSON.stringify(manifest, undefined, 2)}\n`)
  yield* writeReadme(root, "dashboard", folder)
  yield* write("LICENSE", report.product.text)
  yield* write("NOTICE", report.product.notice)
  yield* write(thirdPartyFile, reportText(report))
})
