// `npm run licenses` writes THIRD-PARTY-LICENSES.txt for the packages that are bundled.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path } from "effect"
import { collectLicenses } from "../src/licenses/CollectLicenses.ts"
import { reportText, thirdPartyFile } from "../src/licenses/LicenseReport.ts"

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const report = yield* collectLicenses(root)
  yield* files.writeFileString(path.join(root, thirdPartyFile), reportText(report))
  yield* Console.log(`${thirdPartyFile}: ${report.components.length} components`)
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
