import type { QueryClient } from "@tanstack/react-query"
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect
} from "@tanstack/react-router"
import { addressPath } from "../api/AddressSecret.ts"
import { bootstrapQuery, capsuleQuery, overviewQuery, runQuery, sourceQuery } from "../api/Queries.ts"
import { reachableForNavigation, whenReachable } from "../api/Reachability.ts"
import { graphSearch } from "../screens/graph/GraphSearch.ts"
import { activitySearch } from "../screens/activity/ActivitySearch.ts"
import { runSearch } from "../screens/runs/RunSearch.ts"
import { Crash, NotFound } from "./Fallbacks.tsx"
import { Shell } from "./Shell.tsx"
import { defaultWorkspace } from "./DefaultWorkspace.ts"

interface PullRequestSearch {
  readonly state?: string | undefined
  readonly source?: string | undefined
}

interface Context {
  readonly queryClient: QueryClient
}

const root = createRootRouteWithContext<Context>()({
  beforeLoad: async ({ context, preload }) => {
    // The current page remains open until the server can be reached for the next one.
    if (!preload) await reachableForNavigation()
    return context.queryClient.ensureQueryData(bootstrapQuery)
  },
  component: Shell,
  errorComponent: Crash,
  notFoundComponent: NotFound
})

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const handleOf = async (queryClient: QueryClient, workspaceId: string): Promise<string> => {
  const { workspaces } = await queryClient.ensureQueryData(bootstrapQuery)
  return workspaces.find((workspace) => workspace.id === workspaceId)?.handle ?? workspaceId
}

// Requests a screen's first data while its code is loading, or when the pointer is over a link. Nothing waits for the
// response. The screen makes the same request and gets the result from the cache.
const aheadOfRun = async (queryClient: QueryClient, runId: string): Promise<void> => {
  await queryClient.prefetchQuery(runQuery(runId))
  const capsuleId = queryClient.getQueryData(runQuery(runId).queryKey)?.capsuleId
  if (capsuleId !== undefined) await queryClient.prefetchQuery(capsuleQuery(capsuleId))
}

const aheadOfHome = async (queryClient: QueryClient, handle: string): Promise<void> => {
  const workspace = queryClient.getQueryData(bootstrapQuery.queryKey)?.workspaces.find((each) => each.handle === handle)
  if (workspace !== undefined) await queryClient.prefetchQuery(overviewQuery(workspace.id))
}

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async ({ context }) => {
    const { workspaces, selectedWorkspaceId } = await context.queryClient.ensureQueryData(bootstrapQuery)
    const workspace = defaultWorkspace(workspaces, selectedWorkspaceId)
    throw workspace === undefined
      ? redirect({ to: "/account" })
      : redirect({ to: "/w/$workspace", params: { workspace: workspace.handle } })
  }
})

// Short addresses for external links that only contain an id.
const shortRun = createRoute({
  getParentRoute: () => root,
  path: "/runs/$runId",
  beforeLoad: async ({ context, params }) => {
    const run = await context.queryClient.ensureQueryData(runQuery(params.runId))
    throw redirect({
      to: "/w/$workspace/runs/$runId",
      params: { workspace: await handleOf(context.queryClient, run.workspaceId), runId: run.id }
    })
  }
})

const shortCapsule = createRoute({
  getParentRoute: () => root,
  path: "/capsules/$capsuleId",
  beforeLoad: async ({ context, params }) => {
    const capsule = await context.queryClient.ensureQueryData(capsuleQuery(params.capsuleId))
    throw redirect({
      to: "/w/$workspace/capsules/$capsuleId",
      params: { workspace: await handleOf(context.queryClient, capsule.workspaceId), capsuleId: capsule.id }
    })
  }
})

const shortSource = createRoute({
  getParentRoute: () => root,
  path: "/sources/$sourceId",
  beforeLoad: async ({ context, params }) => {
    const source = await context.queryClient.ensureQueryData(sourceQuery(params.sourceId))
    throw redirect({
      to: "/w/$workspace/sources/$sourceId",
      params: { workspace: await handleOf(context.queryClient, source.workspaceId), sourceId: source.id }
    })
  }
})

const install = createRoute({
  getParentRoute: () => root,
  path: "/new",
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/install/InstallScreen.tsx")),
    "InstallScreen"
  )
})

/** The address that other programs link to. The address bar then shows `/new` with the same query. */
const installLink = createRoute({
  getParentRoute: () => root,
  path: "/install",
  beforeLoad: ({ location }) => {
    throw redirect({ href: `/new${location.searchStr}`, replace: true })
  }
})

const address = createRoute({
  getParentRoute: () => root,
  path: addressPath,
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/account/AddressScreen.tsx")),
    "AddressScreen"
  )
})

const confirm = createRoute({
  getParentRoute: () => root,
  path: "/confirm",
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/confirm/ConfirmScreen.tsx")),
    "ConfirmScreen"
  )
})

const account = createRoute({
  getParentRoute: () => root,
  path: "/account",
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/account/AccountScreen.tsx")),
    "AccountScreen"
  )
})

const workspace = createRoute({
  getParentRoute: () => root,
  path: "/w/$workspace",
  component: lazyRouteComponent(
    whenReachable(() => import("./WorkspaceFrame.tsx")),
    "WorkspaceFrame"
  )
})

const overview = createRoute({
  getParentRoute: () => workspace,
  path: "/",
  loader: ({ context, params }) => void aheadOfHome(context.queryClient, params.workspace),
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/home/HomeScreen.tsx")),
    "HomeScreen"
  )
})

const capsules = createRoute({
  getParentRoute: () => workspace,
  path: "/capsules",
  validateSearch: (search: Record<string, unknown>) => ({
    q: text(search.q),
    status: text(search.status),
    drift: text(search.drift)
  }),
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/capsules/CapsulesScreen.tsx")),
    "CapsulesScreen"
  )
})

const capsule = createRoute({
  getParentRoute: () => workspace,
  path: "/capsules/$capsuleId",
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(capsuleQuery(params.capsuleId)),
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/capsule/CapsuleScreen.tsx")),
    "CapsuleScreen"
  )
})

const capsuleTab = createRoute({
  getParentRoute: () => workspace,
  path: "/capsules/$capsuleId/$tab",
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/capsule/CapsuleScreen.tsx")),
    "CapsuleScreen"
  )
})

const runs = createRoute({
  getParentRoute: () => workspace,
  path: "/runs",
  validateSearch: runSearch,
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/runs/RunsScreen.tsx")),
    "RunsScreen"
  )
})

const run = createRoute({
  getParentRoute: () => workspace,
  path: "/runs/$runId",
  loader: ({ context, params }) => void aheadOfRun(context.queryClient, params.runId),
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/run/RunScreen.tsx")),
    "RunScreen"
  )
})

const update = createRoute({
  getParentRoute: () => workspace,
  path: "/updates/$groupId",
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/update/UpdateScreen.tsx")),
    "UpdateScreen"
  )
})

const pullRequests = createRoute({
  getParentRoute: () => workspace,
  path: "/pull-requests",
  validateSearch: ({ source, state }: Record<string, unknown>): PullRequestSearch => ({
    state: text(state),
    source: text(source)
  }),
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/pull-requests/PullRequestsScreen.tsx")),
    "PullRequestsScreen"
  )
})

const pullRequest = createRoute({
  getParentRoute: () => workspace,
  path: "/pull-requests/$pullRequestId",
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/pull-request/PullRequestScreen.tsx")),
    "PullRequestScreen"
  )
})

const sources = createRoute({
  getParentRoute: () => workspace,
  path: "/sources",
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/sources/SourcesScreen.tsx")),
    "SourcesScreen"
  )
})

const source = createRoute({
  getParentRoute: () => workspace,
  path: "/sources/$sourceId",
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/source/SourceScreen.tsx")),
    "SourceScreen"
  )
})

const connections = createRoute({
  getParentRoute: () => workspace,
  path: "/connections",
  validateSearch: (search: Record<string, unknown>): { readonly connected?: string } => {
    const connected = text(search.connected)
    return connected === undefined ? {} : { connected }
  },
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/connections/ConnectionsScreen.tsx")),
    "ConnectionsScreen"
  )
})

const activity = createRoute({
  getParentRoute: () => workspace,
  path: "/activity",
  validateSearch: activitySearch,
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/activity/ActivityScreen.tsx")),
    "ActivityScreen"
  )
})

const graph = createRoute({
  getParentRoute: () => workspace,
  path: "/graph",
  validateSearch: graphSearch,
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/graph/GraphScreen.tsx")),
    "GraphScreen"
  )
})

const settings = createRoute({
  getParentRoute: () => workspace,
  path: "/settings",
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/workspace/WorkspaceScreen.tsx")),
    "WorkspaceScreen"
  )
})

const settingsTab = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/$tab",
  component: lazyRouteComponent(
    whenReachable(() => import("../screens/workspace/WorkspaceScreen.tsx")),
    "WorkspaceScreen"
  )
})

const tree = root.addChildren([
  home,
  shortRun,
  shortCapsule,
  shortSource,
  install,
  installLink,
  account,
  address,
  confirm,
  workspace.addChildren([
    overview,
    capsules,
    capsule,
    capsuleTab,
    runs,
    run,
    update,
    pullRequests,
    pullRequest,
    sources,
    source,
    connections,
    activity,
    graph,
    settings,
    settingsTab
  ])
])

export const makeRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree: tree,
    context: { queryClient },
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultErrorComponent: Crash,
    defaultNotFoundComponent: NotFound
  })
