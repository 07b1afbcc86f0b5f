import { Effect, Layer } from "effect"
import type { AssetSet } from "../dashboard/Assets.ts"
import { DashboardAssets } from "../http/DashboardRoutes.ts"

const none: AssetSet = new Map()

/**
 * The dashboard of a source checkout, bundled in the background once the server is up and the first page waits for it. A
 * bundle that fails is logged, and the API serves on without pages.
 */
export const bundledDashboard = Layer.effect(
  DashboardAssets,
  Effect.gen(function* () {
    const build = Effect.gen(function* () {
      const { buildDashboard } = yield* Effect.promise(() => import("../dashboard/Build.ts"))
      return yield* buildDashboard("fast")
    }).pipe(
      Effect.catch((error) => Effect.as(Effect.logError("The dashboard is not available", error), none)),
      Effect.withSpan("bundleDashboard")
    )
    return { assets: yield* Effect.cached(build) }
  })
)
