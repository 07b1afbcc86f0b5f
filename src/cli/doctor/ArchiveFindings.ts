import { Effect, FileSystem, Path } from "effect"
import { placeOf } from "../../database/BackupManifest.ts"
import { newestKnown, tableVersion } from "../../database/Migrations.ts"
import { isWhole, neededFiles } from "../../database/NeededFiles.ts"
import type { CheckCaller } from "./Check.ts"
import type { Finding } from "./DoctorReport.ts"

const mostNamed = 3

/**
 * Checks that the snapshots and builds of existing Capsules are present. `svc doctor` also reads each snapshot and build
 * completely.
 */
export const archiveFindings = Effect.fn("archiveFindings")(function* (folder: string, caller: CheckCaller) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // Skip the check if the schema is older, because the queries do not support it.
  if ((yield* tableVersion).newest !== newestKnown) return []
  const needed = (yield* neededFiles).map((file) => ({ file, place: path.join(folder, placeOf(file)) }))
  const wrong = yield* Effect.filter(needed, ({ file, place }) =>
    Effect.gen(function* () {
      if (!(yield* fs.exists(place))) return true
      return caller === "doctor" && !(yield* isWhole(file, place))
    })
  )
  const more = wrong.length > mostNamed ? ` and ${wrong.length - mostNamed} more` : ""
  const named = wrong.slice(0, mostNamed).map(({ place }) => place)
  const finding: Finding =
    wrong.length === 0
      ? {
          check: "archives",
          status: "ok",
          message: `${needed.length} snapshots and builds that Capsules need are there.`
        }
      : {
          check: "archives",
          status: "warning",
          message: `Capsules need ${named.join(", ")}${more}, lost or damaged.`,
          remedy:
            "Put it back from a copy of the data folder. Without one, the next plan of the Capsule fetches or builds it again, as long as its Git server has the commit."
        }
  return [finding]
})
