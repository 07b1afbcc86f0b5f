import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { get } from "./Client.ts"
import { Fault } from "./Fault.ts"
import type {
  AutoUpdateDecision,
  AuditEvent,
  Backup,
  Bootstrap,
  Capsule,
  CompatibilityReport,
  Connection,
  CredentialRecipe,
  OAuthHelper,
  Dependency,
  Graph,
  InstallConfig,
  InstallModules,
  LatestRun,
  Member,
  Output,
  OutputShare,
  Overview,
  ProviderBinding,
  RevisionPlan,
  Run,
  RunGroup,
  SnapshotFile,
  Source,
  SourceSnapshot,
  StateVersion
} from "./Types.ts"

const api = "/api/v1"
/** Lists of a Workspace renew themselves at this pace while somebody looks; a Run's own page is pushed instead. */
const listPaceMs = 15_000

type Cursor = string | undefined

// A function, because a constant would be narrowed to `undefined` and no later page would fit it.
const firstCursor = (): Cursor => undefined

/** Follows every page of a list that is shown whole: search over a part would lie. */
const everyPage = async <A, K extends string>(
  path: string,
  key: K,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal
): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  let cursor: Cursor
  do {
    const page: Readonly<Record<K, ReadonlyArray<A>>> & { readonly nextCursor?: string } = await get(
      path,
      { ...query, limit: 100, cursor },
      signal
    )
    items.push(...page[key])
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
}

export const bootstrapQuery = queryOptions({
  queryKey: ["bootstrap"],
  queryFn: ({ signal }) => get<Bootstrap>(`${api}/dashboard/bootstrap`, {}, signal),
  staleTime: 60_000
})

export const overviewQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "overview"],
    queryFn: ({ signal }) => get<Overview>(`${api}/dashboard/overview`, { workspaceId }, signal),
    refetchInterval: listPaceMs
  })

export const capsulesQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "capsules"],
    queryFn: ({ signal }) =>
      everyPage<Capsule, "capsules">(`${api}/workspaces/${workspaceId}/capsules`, "capsules", {}, signal),
    refetchInterval: listPaceMs
  })

export const capsuleQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId],
    queryFn: ({ signal }) =>
      get<{ capsule: Capsule }>(`${api}/capsules/${capsuleId}`, {}, signal).then(({ capsule }) => capsule),
    refetchInterval: listPaceMs
  })

export const outputsQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId, "outputs"],
    queryFn: ({ signal }) =>
      get<{ outputs: ReadonlyArray<Output> }>(`${api}/capsules/${capsuleId}/outputs`, {}, signal).then(
        ({ outputs }) => outputs
      )
  })

export const stateVersionsQuery = (capsuleId: string) =>
  infiniteQueryOptions({
    queryKey: ["capsule", capsuleId, "state-versions"],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      get<{ stateVersions: ReadonlyArray<StateVersion>; nextCursor?: string }>(
        `${api}/capsules/${capsuleId}/state-versions`,
        { cursor: pageParam },
        signal
      ),
    getNextPageParam: (page): Cursor => page.nextCursor
  })

export const decisionsQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId, "auto-update-decisions"],
    queryFn: async ({ signal }) => {
      const path = `${api}/capsules/${capsuleId}/auto-update-decisions`
      const page = await get<{ decisions: ReadonlyArray<AutoUpdateDecision> }>(path, { limit: "5" }, signal)
      return page.decisions
    }
  })

export const dependenciesQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId, "dependencies"],
    queryFn: ({ signal }) =>
      everyPage<Dependency, "dependencies">(`${api}/capsules/${capsuleId}/dependencies`, "dependencies", {}, signal)
  })

export const bindingsQuery = (capsuleId: string) =>
  queryOptions({
    queryKey: ["capsule", capsuleId, "bindings"],
    queryFn: ({ signal }) =>
      get<{ providerBindings: ReadonlyArray<ProviderBinding> }>(
        `${api}/capsules/${capsuleId}/provider-bindings`,
        {},
        signal
      ).then(({ providerBindings }) => providerBindings)
  })

export const installConfigQuery = (installConfigId: string) =>
  queryOptions({
    queryKey: ["install-config", installConfigId],
    queryFn: ({ signal }) =>
      get<{ capsuleConfig: InstallConfig }>(`${api}/capsule-configs/${installConfigId}`, {}, signal).then(
        ({ capsuleConfig }) => capsuleConfig
      ),
    staleTime: Number.POSITIVE_INFINITY
  })

/** The operator's base configurations: they lead the list of configurations. */
export const readyMadeQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "ready-made"],
    queryFn: ({ signal }) =>
      get<{ capsuleConfigs: ReadonlyArray<InstallConfig> }>(
        `${api}/capsule-configs`,
        { workspaceId, limit: "100" },
        signal
      ).then(({ capsuleConfigs }) => capsuleConfigs.filter(({ operator }) => operator?.place !== undefined)),
    staleTime: 60_000
  })

export const runsQuery = (workspaceId: string, filter: Readonly<Record<string, string>> = {}) =>
  infiniteQueryOptions({
    queryKey: ["workspace", workspaceId, "runs", filter],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      get<{ runs: ReadonlyArray<Run>; nextCursor?: string }>(
        `${api}/workspaces/${workspaceId}/runs`,
        { ...filter, cursor: pageParam },
        signal
      ),
    getNextPageParam: (page): Cursor => page.nextCursor,
    refetchInterval: listPaceMs
  })

/** The newest Run of each of these Capsules, a hundred at the most; by Capsule id. */
export const latestRunsQuery = (workspaceId: string, capsuleIds: ReadonlyArray<string>) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "latest-runs", capsuleIds],
    queryFn: ({ signal }) =>
      get<{ latestRuns: ReadonlyArray<LatestRun> }>(
        `${api}/dashboard/latest-runs`,
        { workspaceId, capsuleIds: capsuleIds.join(",") },
        signal
      ).then(({ latestRuns }) => latestRuns),
    refetchInterval: listPaceMs
  })

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => get<{ run: Run }>(`${api}/runs/${runId}`, {}, signal).then(({ run }) => run)
  })

export const revisionPlanQuery = (revisionPlanId: string) =>
  queryOptions({
    queryKey: ["revision-plan", revisionPlanId],
    queryFn: ({ signal }) =>
      get<{ revisionPlan: RevisionPlan }>(`${api}/revision-plans/${revisionPlanId}`, {}, signal).then(
        ({ revisionPlan }) => revisionPlan
      )
  })

/** An update moves while somebody looks at it. */
const groupPaceMs = 3000

export const runGroupQuery = (groupId: string) =>
  queryOptions({
    queryKey: ["run-group", groupId],
    queryFn: ({ signal }) =>
      get<{ runGroup: RunGroup }>(`${api}/run-groups/${groupId}`, {}, signal).then(({ runGroup }) => runGroup),
    refetchInterval: ({ state }) => (state.data?.finishedAt === undefined ? groupPaceMs : false)
  })

export const sourcesQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "sources"],
    queryFn: ({ signal }) => everyPage<Source, "sources">(`${api}/sources`, "sources", { workspaceId }, signal),
    refetchInterval: listPaceMs
  })

export const sourceQuery = (sourceId: string) =>
  queryOptions({
    queryKey: ["source", sourceId],
    queryFn: ({ signal }) =>
      get<{ source: Source }>(`${api}/sources/${sourceId}`, {}, signal).then(({ source }) => source)
  })

export const snapshotsQuery = (sourceId: string) =>
  infiniteQueryOptions({
    queryKey: ["source", sourceId, "snapshots"],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      get<{ snapshots: ReadonlyArray<SourceSnapshot>; nextCursor?: string }>(
        `${api}/sources/${sourceId}/snapshots`,
        { cursor: pageParam },
        signal
      ),
    getNextPageParam: (page): Cursor => page.nextCursor
  })

export const installModulesQuery = (sourceId: string, snapshotId: string) =>
  queryOptions({
    queryKey: ["source", sourceId, "modules", snapshotId],
    queryFn: ({ signal }) =>
      get<InstallModules>(`${api}/sources/${sourceId}/snapshots/${snapshotId}/install-modules`, {}, signal),
    staleTime: Number.POSITIVE_INFINITY
  })

export const snapshotFileQuery = (sourceId: string, snapshotId: string, path: string) =>
  queryOptions({
    queryKey: ["source", sourceId, "file", snapshotId, path],
    queryFn: ({ signal }) =>
      get<SnapshotFile>(`${api}/sources/${sourceId}/snapshots/${snapshotId}/file`, { path }, signal),
    staleTime: Number.POSITIVE_INFINITY
  })

export const outputSharesQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "output-shares"],
    queryFn: ({ signal }) =>
      everyPage<OutputShare, "outputShares">(`${api}/output-shares`, "outputShares", { workspaceId }, signal)
  })

export const backupsQuery = (workspaceId: string) =>
  infiniteQueryOptions({
    queryKey: ["workspace", workspaceId, "backups"],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      get<{ backups: ReadonlyArray<Backup>; nextCursor?: string }>(
        `${api}/workspaces/${workspaceId}/backups`,
        { cursor: pageParam },
        signal
      ),
    getNextPageParam: (page): Cursor => page.nextCursor
  })

export const reportQuery = (reportId: string) =>
  queryOptions({
    queryKey: ["report", reportId],
    queryFn: ({ signal }) =>
      get<{ compatibilityReport: CompatibilityReport }>(`${api}/compatibility-reports/${reportId}`, {}, signal).then(
        ({ compatibilityReport }) => compatibilityReport
      ),
    staleTime: Number.POSITIVE_INFINITY
  })

export const connectionsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "connections"],
    queryFn: ({ signal }) =>
      everyPage<Connection, "connections">(`${api}/connections`, "connections", { workspaceId }, signal)
  })

export const helpersQuery = queryOptions({
  queryKey: ["oauth-helpers"],
  queryFn: ({ signal }) =>
    get<{ oauthHelpers: ReadonlyArray<OAuthHelper> }>(`${api}/credential-recipes`, {}, signal).then(
      ({ oauthHelpers }) => oauthHelpers
    ),
  staleTime: 600_000
})

export const recipesQuery = queryOptions({
  queryKey: ["credential-recipes"],
  queryFn: ({ signal }) =>
    get<{ credentialRecipes: ReadonlyArray<CredentialRecipe> }>(`${api}/credential-recipes`, {}, signal).then(
      ({ credentialRecipes }) => credentialRecipes
    ),
  staleTime: 600_000
})

export const activityQuery = (workspaceId: string, filter: Readonly<Record<string, string>> = {}) =>
  infiniteQueryOptions({
    queryKey: ["workspace", workspaceId, "activity", filter],
    initialPageParam: firstCursor(),
    queryFn: ({ pageParam, signal }) =>
      get<{ events: ReadonlyArray<AuditEvent>; nextCursor?: string }>(
        `${api}/workspaces/${workspaceId}/activity`,
        { ...filter, cursor: pageParam },
        signal
      ),
    getNextPageParam: (page): Cursor => page.nextCursor
  })

export const membersQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "members"],
    queryFn: ({ signal }) =>
      everyPage<Member, "members">(`${api}/workspaces/${workspaceId}/members`, "members", {}, signal)
  })

export const graphQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: ["workspace", workspaceId, "graph"],
    queryFn: ({ signal }) => get<Graph>(`${api}/workspaces/${workspaceId}/graph`, {}, signal)
  })

/** A definite refusal is not asked again; the network and an overloaded server are. */
export const retryQuery = (count: number, error: unknown): boolean =>
  count < 4 && error instanceof Fault && error.transient
