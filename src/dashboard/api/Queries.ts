import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import {
  capsulesAutoUpdateDecisions,
  capsulesConfig,
  capsulesConfigs,
  capsulesDependencies,
  capsulesOutputs,
  capsulesProviderBindings,
  capsulesRead,
  capsulesStateVersions,
  connectionsList,
  connectionsOutputShares,
  connectionsRecipes,
  dashboardBootstrap,
  dashboardLatestRuns,
  dashboardOverview,
  invitationsList,
  leftOverStatesList,
  revisionPlansRead,
  runsGroup,
  runsRead,
  sourcesFile,
  sourcesInstallModules,
  sourcesList,
  sourcesRead,
  sourcesReport,
  sourcesSnapshots,
  workspacesActivity,
  workspacesBackups,
  workspacesCapsules,
  workspacesGraph,
  workspacesMembers,
  workspacesRuns
} from "./Endpoints.ts"
import { Fault } from "./Fault.ts"

/** Interval at which visible lists of a Workspace refresh. The page of a Run receives updates as a stream instead. */
export const listPaceMs = 15_000

export type Cursor = string | undefined

// This is a function, because TypeScript would narrow a constant `undefined` and then reject later pages.
export const firstCursor = (): Cursor => undefined

/** Fetches all pages of a list that is shown completely, because searching only part of the list would be misleading. */
export const everyPage = async <P extends { readonly nextCursor?: string }, A>(
  read: (page: { readonly limit: string; readonly cursor: Cursor }) => Promise<P>,
  itemsOf: (page: P) => ReadonlyArray<A>
): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  let cursor: Cursor
  do {
    const page = await read({ limit: "100", cursor })
    items.push(...itemsOf(page))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
}

export const bootstrapQuery = queryOptions({
  queryKey: ["bootstrap"],
  queryFn: ({ signal }) => call(dashboardBootstrap, { signal }),
  staleTime: 60_000,
  // Polls in order to detect, even on a page that reads nothing else, that the person was removed from the Workspace.
  refetchInterval: 20_000
})

export const overviewQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "overview"],
    queryFn: ({ signal }) => call(dashboardOverview, { query: { workspaceId }, signal }),
    refetchInterval: listPaceMs
  })

export const capsulesQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "capsules"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(workspacesCapsules, { params: { workspaceId }, query: page, signal }),
        ({ capsules }) => capsules
      ),
    refetchInterval: listPaceMs
  })

export const capsuleQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId],
    queryFn: ({ signal }) => call(capsulesRead, { params: { capsuleId }, signal }).then(({ capsule }) => capsule),
    refetchInterval: listPaceMs
  })

export const outputsQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId, "outputs"],
    queryFn: ({ signal }) => call(capsulesOutputs, { params: { capsuleId }, signal }).then(({ outputs }) => outputs)
  })

export const stateVersionsQuery = (capsuleId: string) =>
  infiniteQueryOptions({
    queryKey: ["capsule", capsuleId, "state-versions"],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      call(capsulesStateVersions, { params: { capsuleId }, query: { cursor: pageParam }, signal }),
    getNextPageParam: (page): Cursor => page.nextCursor
  })

export const leftOverStatesQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId, "left-over-states"],
    queryFn: async ({ signal }) => {
      const page = await call(leftOverStatesList, { params: { capsuleId }, query: { limit: "20" }, signal })
      return page.leftOverStates
    }
  })

export const decisionsQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId, "auto-update-decisions"],
    queryFn: async ({ signal }) => {
      const page = await call(capsulesAutoUpdateDecisions, { params: { capsuleId }, query: { limit: "5" }, signal })
      return page.decisions
    }
  })

export const dependenciesQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId, "dependencies"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(capsulesDependencies, { params: { capsuleId }, query: page, signal }),
        ({ dependencies }) => dependencies
      )
  })

export const bindingsQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId, "bindings"],
    queryFn: ({ signal }) =>
      call(capsulesProviderBindings, { params: { capsuleId }, signal }).then(({ providerBindings }) => providerBindings)
  })

export const installConfigQuery = (installConfigId: string) =>
  queryOptions({
    queryKey: ["install-config", installConfigId],
    queryFn: ({ signal }) =>
      call(capsulesConfig, { params: { capsuleConfigId: installConfigId }, signal }).then(
        ({ capsuleConfig }) => capsuleConfig
      ),
    staleTime: Number.POSITIVE_INFINITY
  })

/** The operator's base configurations, which come first in the list of configurations. */
export const readyMadeQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "ready-made"],
    queryFn: ({ signal }) =>
      call(capsulesConfigs, { query: { workspaceId, limit: "100" }, signal }).then(({ capsuleConfigs }) =>
        capsuleConfigs.filter(({ operator }) => operator?.place !== undefined)
      ),
    staleTime: 60_000
  })

export const runsQuery = (workspaceId: string, filter: Readonly<Record<string, string>> = {}) =>
  infiniteQueryOptions({
    queryKey: ["workspace", workspaceId, "runs", filter],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      call(workspacesRuns, { params: { workspaceId }, query: { ...filter, cursor: pageParam }, signal }),
    getNextPageParam: (page): Cursor => page.nextCursor,
    refetchInterval: listPaceMs
  })

/** The newest Run of each given Capsule, keyed by Capsule id. The caller may pass at most a hundred Capsules. */
export const latestRunsQuery = (workspaceId: string, capsuleIds: ReadonlyArray<string>) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "latest-runs", capsuleIds],
    queryFn: ({ signal }) =>
      call(dashboardLatestRuns, { query: { workspaceId, capsuleIds: capsuleIds.join(",") }, signal }).then(
        ({ latestRuns }) => latestRuns
      ),
    refetchInterval: listPaceMs
  })

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => call(runsRead, { params: { runId }, signal }).then(({ run }) => run)
  })

export const revisionPlanQuery = (revisionPlanId: string) =>
  queryOptions({
    queryKey: ["revision-plan", revisionPlanId],
    queryFn: ({ signal }) =>
      call(revisionPlansRead, { params: { revisionPlanId }, signal }).then(({ revisionPlan }) => revisionPlan)
  })

/** An update may advance while its page is open, so it is polled. */
const groupPaceMs = 3000

export const runGroupQuery = (groupId: string) =>
  queryOptions({
    queryKey: ["run-group", groupId],
    queryFn: ({ signal }) => call(runsGroup, { params: { runGroupId: groupId }, signal }),
    refetchInterval: ({ state }) => (state.data?.runGroup.finishedAt === undefined ? groupPaceMs : false)
  })

export const sourcesQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "sources"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(sourcesList, { query: { ...page, workspaceId }, signal }),
        ({ sources }) => sources
      ),
    refetchInterval: listPaceMs
  })

export const sourceQuery = (sourceId: string) =>
  queryOptions({
    queryKey: ["source", sourceId],
    queryFn: ({ signal }) => call(sourcesRead, { params: { sourceId }, signal }).then(({ source }) => source)
  })

export const snapshotsQuery = (sourceId: string) =>
  infiniteQueryOptions({
    queryKey: ["source", sourceId, "snapshots"],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      call(sourcesSnapshots, { params: { sourceId }, query: { cursor: pageParam }, signal }),
    getNextPageParam: (page): Cursor => page.nextCursor
  })

export const installModulesQuery = (sourceId: string, snapshotId: string) =>
  queryOptions({
    queryKey: ["source", sourceId, "modules", snapshotId],
    queryFn: ({ signal }) =>
      call(sourcesInstallModules, { params: { sourceId, sourceSnapshotId: snapshotId }, signal }),
    staleTime: Number.POSITIVE_INFINITY
  })

export const snapshotFileQuery = (sourceId: string, snapshotId: string, path: string) =>
  queryOptions({
    queryKey: ["source", sourceId, "file", snapshotId, path],
    queryFn: ({ signal }) =>
      call(sourcesFile, { params: { sourceId, sourceSnapshotId: snapshotId }, query: { path }, signal }),
    staleTime: Number.POSITIVE_INFINITY
  })

export const outputSharesQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "output-shares"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(connectionsOutputShares, { query: { ...page, workspaceId }, signal }),
        ({ outputShares }) => outputShares
      )
  })

export const backupsQuery = (workspaceId: string) =>
  infiniteQueryOptions({
    queryKey: ["workspace", workspaceId, "backups"],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      call(workspacesBackups, { params: { workspaceId }, query: { cursor: pageParam }, signal }),
    getNextPageParam: (page): Cursor => page.nextCursor
  })

export const reportQuery = (reportId: string) =>
  queryOptions({
    queryKey: ["report", reportId],
    queryFn: ({ signal }) =>
      call(sourcesReport, { params: { reportId }, signal }).then(({ compatibilityReport }) => compatibilityReport),
    staleTime: Number.POSITIVE_INFINITY
  })

export const connectionsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "connections"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(connectionsList, { query: { ...page, workspaceId }, signal }),
        ({ connections }) => connections
      )
  })

export const helpersQuery = queryOptions({
  queryKey: ["oauth-helpers"],
  queryFn: ({ signal }) => call(connectionsRecipes, { signal }).then(({ oauthHelpers }) => oauthHelpers),
  staleTime: 600_000
})

export const recipesQuery = queryOptions({
  queryKey: ["credential-recipes"],
  queryFn: ({ signal }) => call(connectionsRecipes, { signal }).then(({ credentialRecipes }) => credentialRecipes),
  staleTime: 600_000
})

export const activityQuery = (workspaceId: string, filter: Readonly<Record<string, string>> = {}) =>
  infiniteQueryOptions({
    queryKey: ["workspace", workspaceId, "activity", filter],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      call(workspacesActivity, { params: { workspaceId }, query: { ...filter, cursor: pageParam }, signal }),
    getNextPageParam: (page): Cursor => page.nextCursor
  })

export const invitationsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "members", "invitations"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(invitationsList, { params: { workspaceId }, query: page, signal }),
        ({ invitations }) => invitations
      )
  })

export const membersQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "members"],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => call(workspacesMembers, { params: { workspaceId }, query: page, signal }),
        ({ members }) => members
      )
  })

export const graphQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "graph"],
    queryFn: ({ signal }) => call(workspacesGraph, { params: { workspaceId }, signal })
  })

/** Retries after network failures and responses from an overloaded server, but not after definite refusals. */
export const retryQuery = (count: number, error: unknown): boolean =>
  count < 4 && error instanceof Fault && error.transient
