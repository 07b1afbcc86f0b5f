import { type QueryClient, useQuery } from "@tanstack/react-query"
import { call } from "../../api/Call.ts"
import { sourcesCreate, sourcesSnapshots, sourcesSync } from "../../api/Endpoints.ts"
import { runQuery, snapshotsQuery, sourcesQuery } from "../../api/Queries.ts"
import type { Source, SourceSnapshot } from "../../api/Types.ts"
import { isSameRef } from "../../../../schema/git/RefName.ts"
import { isSameRepository } from "../../../../schema/git/RepositoryAddress.ts"
import { repositoryName } from "../../words/Format.ts"

export interface WantedSource {
  readonly url: string
  readonly ref: string
  readonly path: string
  readonly authConnectionId: string
}

export interface SourceReading {
  readonly sourceId: string
  readonly syncRunId: string
}

const isSame = (source: Source, wanted: WantedSource): boolean =>
  isSameRepository(source.url, wanted.url) &&
  isSameRef(source.defaultRef, wanted.ref) &&
  source.defaultPath === wanted.path &&
  (source.authConnectionId ?? "") === wanted.authConnectionId &&
  source.status !== "disabled"

/**
 * Starts a sync of the chosen Source, which pins one commit. Reuses an equivalent Source in the Workspace. A newly created Source
 * is removed if it cannot be read, even if this page has been closed by then.
 */
export const readSource = async (
  queryClient: QueryClient,
  workspaceId: string,
  wanted: WantedSource,
  signal: AbortSignal
): Promise<SourceReading> => {
  const sources = await queryClient.fetchQuery({ ...sourcesQuery(workspaceId), staleTime: 0 })
  const known = sources.find((source) => isSame(source, wanted))
  if (known !== undefined) {
    const { run } = await call(sourcesSync, { signal, params: { sourceId: known.id }, body: { intent: "manual_plan" } })
    return { sourceId: known.id, syncRunId: run.id }
  }
  const { run, source } = await call(sourcesCreate, {
    signal,
    body: {
      workspaceId,
      name: repositoryName(wanted.url).slice(0, 80),
      url: wanted.url,
      defaultRef: wanted.ref,
      defaultPath: wanted.path,
      firstSync: { onFailure: "remove" },
      ...(wanted.authConnectionId === "" ? {} : { authConnectionId: wanted.authConnectionId })
    }
  })
  if (run === undefined) throw new Error("The server began no sync of the Source.")
  return { sourceId: source.id, syncRunId: run.id }
}

/** The snapshot that this sync created, never an older snapshot. */
export const useSnapshot = ({ sourceId, syncRunId }: { readonly [K in keyof SourceReading]?: string | undefined }) => {
  const run = useQuery({
    ...runQuery(syncRunId ?? ""),
    enabled: syncRunId !== undefined,
    refetchInterval: ({ state }) => (state.data?.status === "queued" || state.data?.status === "running" ? 600 : false)
  })
  const snapshotId = run.data?.status === "succeeded" ? run.data.sourceSnapshotId : undefined
  const snapshot = useQuery({
    queryKey: [...snapshotsQuery(sourceId ?? "").queryKey, "one", snapshotId],
    enabled: sourceId !== undefined && snapshotId !== undefined,
    queryFn: async ({ signal }): Promise<SourceSnapshot | null> => {
      const { snapshots } = await call(sourcesSnapshots, { params: { sourceId: sourceId ?? "" }, signal })
      return snapshots.find(({ id }) => id === snapshotId) ?? null
    },
    refetchInterval: ({ state }) => (state.data === null ? 600 : false)
  })
  return { run: run.data, snapshot: snapshot.data ?? undefined }
}
