import { Effect, Layer } from "effect"
import type { AssetSet } from "../dashboard/Assets.ts"
import { EmbeddedDashboard, readEmbeddedDashboard } from "../dashboard/EmbeddedFiles.ts"
import { DashboardAssets } from "../http/DashboardRoutes.ts"

const none: AssetSet = new Map()

/** A failing bundle is logged, and the API is served without pages. */
const bundle = Effect.gen(function* () {
  // Left out of compiled binaries, which embed the bundle itself.
  const { buildDashboard } = yield* Effect.promise(() => import("../dashboard/Build.ts"))
  return yield* buildDashboard("fast")
}).pipe(
  Effect.catch((error) => Effect.as(Effect.logError("The dashboard is not available", error), none)),
  Effect.withSpan("bundleDashboard")
)

/**
 * The dashboard: embedded in a compiled binary, bundled from its sources in a checkout. Either way it is prepared for the first
 * page, so that a server without readers pays nothing.
 */
export const dashboardFiles = Layer.effect(
  DashboardAssets,
  Effect.gen(function* () {
    const embedded = yield* EmbeddedDashboard
    return { assets: yield* Effect.cached(embedded.length === 0 ? bundle : readEmbeddedDashboard(embedded)) }
  })
)
