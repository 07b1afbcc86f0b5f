import type { Source, SourceSnapshot } from "../../../../src/dashboard/api/Types.ts"
import { ago, commit, commitDescription, digest } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

export const sources: ReadonlyArray<Source> = [
  {
    id: "src_0000000000000001",
    workspaceId,
    name: "platform",
    url: "https://git.acme.example/infra/platform.git",
    defaultRef: "main",
    defaultPath: ".",
    reviewedRefs: [],
    pullRequests: "static",
    autoSync: true,
    status: "active",
    lastSyncedAt: ago(12),
    lanes: [
      {
        ref: "main",
        path: ".",
        commit: commit(1),
        commitDescription,
        lastLookAt: ago(12),
        lastChangeAt: ago(300),
        nextLookAt: ago(-3)
      },
      {
        ref: "release",
        path: ".",
        lastLookAt: ago(12),
        error: { code: "source_ref_not_found", message: "The ref release does not exist.", since: ago(50) },
        nextLookAt: ago(-3)
      }
    ],
    hookSecretVersion: 1,
    hookSecretCreatedAt: ago(200_000),
    createdAt: ago(200_000),
    updatedAt: ago(12)
  },
  {
    id: "src_0000000000000002",
    workspaceId,
    name: "data services",
    url: "https://git.acme.example/infra/data.git",
    defaultRef: "v2.3.0",
    defaultPath: "modules",
    reviewedRefs: [],
    pullRequests: "static",
    autoSync: false,
    status: "active",
    lastSyncedAt: ago(2900),
    hookSecretVersion: 3,
    hookSecretCreatedAt: ago(20_000),
    createdAt: ago(100_000),
    updatedAt: ago(2900)
  },
  {
    id: "src_0000000000000003",
    workspaceId,
    name: "old website",
    url: "https://git.acme.example/web/legacy.git",
    defaultRef: "main",
    defaultPath: ".",
    reviewedRefs: [],
    pullRequests: "static",
    autoSync: true,
    status: "error",
    lastSyncedAt: ago(40_000),
    hookSecretVersion: 1,
    hookSecretCreatedAt: ago(180_000),
    createdAt: ago(180_000),
    updatedAt: ago(50)
  }
]

export const snapshots: ReadonlyArray<SourceSnapshot> = [0, 1, 2].map((index) => ({
  id: `snap_000000000000000${index + 1}`,
  workspaceId,
  sourceId: "src_0000000000000001",
  url: "https://git.acme.example/infra/platform.git",
  ref: "main",
  resolvedCommit: commit(40 - index),
  ...(index === 2 ? {} : { commitDescription }),
  path: ".",
  archiveDigest: digest(index + 1),
  archiveSizeBytes: 812_345 - index * 9000,
  fileCount: 143 - index * 2,
  omitted: index === 0 ? [{ path: "vendor/tool", kind: "submodule" as const }] : [],
  repositoryManifest: { status: "valid" as const, digest: digest(90), apiVersion: "svc.com/v2.3" },
  createdByRunId: "run_0000000000000009",
  createdAt: ago(12 + index * 1600)
}))

export const optionsDocument = JSON.stringify({
  apiVersion: "install.svc.com/v1alpha1",
  kind: "CapsuleSourceOptions",
  metadata: {
    name: "shop",
    title: "Shop, in three sizes",
    description: "The same shop: on one machine, on a cluster, or as a trial without a database."
  },
  options: [
    { id: "single", title: "One machine", source: { url: "https://git.acme.example/infra/shop.git", path: "single" } },
    {
      id: "cluster",
      title: "Cluster",
      source: { url: "https://git.acme.example/infra/shop-cluster.git", path: ".", ref: "v3.1.0" }
    },
    {
      id: "trial",
      title: "Trial",
      source: { url: "https://git.acme.example/infra/shop.git", path: "trial", ref: "main" }
    }
  ]
})
