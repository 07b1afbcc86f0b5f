import { Effect } from "effect"
import type { ScannedModule } from "../../../runner/scan/ScannedModule.ts"
import type { ModuleVerdict } from "../../../schema/records/CompatibilityReport.ts"
import { InstallConfigCompilation } from "./InstallConfigCompilation.ts"
import { declaredPaths, repositoryPathOf } from "../source/SnapshotManifest.ts"
import { CompatibilityCheck } from "../source/CompatibilityCheck.ts"
import type { StagedReport, StagedSnapshot } from "../source/StagedFindings.ts"

const maxVerdicts = 256

const reasons = {
  module_not_found: "The snapshot has no module at this path.",
  module_not_scanned: "The modules that the manifest names are together more than one scan may read."
}

const verdictName = (status: string): ModuleVerdict["verdict"] => {
  if (status === "adopted") return "adopted"
  return status === "absent" || status === "not_declared" ? "absent" : "rejected"
}

/** Adds the manifest's verdict on each module of the snapshot to the report. */
export const makeModuleVerdicts = Effect.gen(function* () {
  const compatibility = yield* CompatibilityCheck
  const compilation = yield* InstallConfigCompilation

  const refused = (snapshot: StagedSnapshot, path: string, code: keyof typeof reasons): ModuleVerdict => {
    const key = repositoryPathOf(snapshot, path)
    return { path, key, verdict: "rejected", reasons: [{ path: "/install/modules", code, message: reasons[code] }] }
  }

  const checked = (snapshot: StagedSnapshot, { manifest, modulePath }: StagedReport["report"]): ModuleVerdict => ({
    path: modulePath,
    key: repositoryPathOf(snapshot, modulePath),
    verdict: verdictName(manifest.status),
    reasons: manifest.diagnostics
  })

  return Effect.fn("Source.moduleVerdicts")(function* (staged: StagedReport, snapshot: StagedSnapshot) {
    const { report } = staged
    const declared = declaredPaths(snapshot).filter((path) => path !== report.modulePath)
    const { paths, scanned } = yield* compatibility.neighbours(snapshot.archiveDigest, declared)
    const scans = new Map((scanned ?? []).map((scan): [string, ScannedModule] => [scan.path, scan]))
    const verdictOf = (path: string): ModuleVerdict => {
      const scan = scans.get(path)
      if (scan !== undefined) return compilation.verdictOf(snapshot, scan)
      return refused(snapshot, path, paths.includes(path) ? "module_not_scanned" : "module_not_found")
    }
    const named = new Set([report.modulePath, ...declared])
    const others =
      snapshot.repositoryManifest.status === "valid"
        ? paths
            .filter((path) => !named.has(path))
            .map(
              (path): ModuleVerdict => ({ path, key: repositoryPathOf(snapshot, path), verdict: "absent", reasons: [] })
            )
        : []
    const modules = [checked(snapshot, report), ...declared.map(verdictOf), ...others]
    return { ...staged, report: { ...report, modules: modules.slice(0, maxVerdicts) } }
  })
})
