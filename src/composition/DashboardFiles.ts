import { Effect, Layer } from "effect"
import type { AssetSet } from "../dashboard/Assets.ts"
import { EmbeddedDashboard, readEmbeddedDashboard } from "../dashboard/EmbeddedFiles.ts"
import { prebuiltDashboard } from "../dashboard/PrebuiltDashboard.ts"
import { DashboardAssets } from "../http/DashboardRoutes.ts"

const none: AssetSet = new Map()

const isSource = import.meta.url.endsWith(".ts")

/** If bundling fails, the failure is logged and the API is served without pages. */
const bundle = Effect.gen(function* () {
  // Left out of compiled binaries and packages, which contain the finished bundle.
  const { buildDashboard } = yield* Effect.promise(() => import("../dashboard/Build.ts"))
  return yield* buildDashboard("fast")
}).pipe(
  Effect.catch((error) => Effect.as(Effect.logError("The dashboard is not available", error), none)),
  Effect.withSpan("bundleDashboard")
)

/** In a package: the files of the dashboard's own package, which is optional. */
const installed = Effect.gen(function* () {
  const files = yield* prebuiltDashboard
  if (files.length > 0) return yield* readEmbeddedDashboard(files)
  yield* Effect.logInfo("The dashboard is not installed: the API is served without pages")
  return none
})

/**
 * The dashboard: embedded in a compiled binary, in a separate package for a built library, bundled from its sources in a
 * checkout. It is always prepared when the first page is requested, so a server without visitors incurs no cost.
 */
export const dashboardFiles = Layer.effect(
  DashboardAssets,
  Effect.gen(function* () {
    const embedded = yield* EmbeddedDashboard
    const files = embedded.length > 0 ? readEmbeddedDashboard(embedded) : isSource ? bundle : installed
    return { assets: yield* Effect.cached(files) }
  })
)
