import { readmeFile } from "../records/Readme.ts"
import type { Source } from "../../../../src/dashboard/api/Types.ts"
import { report } from "../records/InstallConfigs.ts"
import { digest, newId } from "../records/Seeds.ts"
import { snapshots } from "../records/Sources.ts"
import { workspaceId } from "../records/Workspaces.ts"
import { type Answer, type Asked, field, missing, numberField, ok, refuse, textField } from "./Answer.ts"
import { type World, addRun } from "./World.ts"

export const sourceListRoute = (world: World, asked: Asked): Answer => {
  if (asked.method === "GET") return ok({ sources: world.empty ? [] : world.sources })
  const source: Source = {
    id: newId("src"),
    workspaceId,
    name: textField(asked.body, "name") ?? "",
    url: textField(asked.body, "url") ?? "",
    defaultRef: textField(asked.body, "defaultRef") ?? "HEAD",
    defaultPath: textField(asked.body, "defaultPath") ?? ".",
    reviewedRefs: [],
    pullRequests: "static",
    autoSync: false,
    status: "active",
    hookSecretVersion: 1,
    hookSecretCreatedAt: new Date().toISOString(),
    createdAt: new Date().toISOString(),
    updatedAt: new Date().toISOString()
  }
  world.sources.push(source)
  const answer = { source, hookSecret: "hook-secret-shown-once" }
  const firstSync = field(asked.body, "firstSync")
  if (firstSync === undefined) return ok(answer, 201)
  const run = syncOf(world, source)
  // Like the server, removes a source whose first sync fails, if the request asked for that.
  if (run.status === "failed" && textField(firstSync, "onFailure") === "remove") {
    const gone = { ...source, removedAt: new Date().toISOString() }
    world.sources = world.sources.filter(({ id }) => id !== source.id)
    world.removedSources.push(gone)
  }
  return ok({ ...answer, run }, 201)
}

const syncOf = (world: World, { id, url }: Source) => {
  if (url.endsWith("/missing.git")) {
    const error = { code: "source_unavailable", message: "The repository was not found." }
    return addRun(world, { type: "source_sync", status: "failed", sourceId: id, error })
  }
  const at = new Date().toISOString()
  return addRun(world, { type: "source_sync", status: "succeeded", sourceId: id, startedAt: at, finishedAt: at })
}

export const sourceRoute = (world: World, id: string, rest: string | undefined, asked: Asked): Answer => {
  const removed = world.removedSources.find((each) => each.id === id)
  if (removed !== undefined && rest === undefined && asked.method === "GET") return ok({ source: removed })
  const source = world.sources.find((each) => each.id === id)
  if (source === undefined) return missing
  const own = snapshots.map((snapshot) => ({
    ...snapshot,
    sourceId: id,
    url: source.url,
    ref: source.defaultRef,
    path: source.defaultPath
  }))
  if (rest === undefined && asked.method === "DELETE") {
    world.sources.splice(world.sources.indexOf(source), 1)
    return ok(undefined, 204)
  }
  if (rest === undefined && asked.method === "PATCH") {
    const changed = { ...source, ...(typeof asked.body === "object" ? asked.body : {}) }
    world.sources = world.sources.map((each) => (each.id === id ? changed : each))
    return ok({ source: changed })
  }
  if (rest === undefined) return ok({ source })
  if (rest === "hook-secret") {
    if (numberField(asked.body, "hookSecretVersion") !== source.hookSecretVersion)
      return refuse(409, "guard_conflict", "Somebody has renewed the secret since; read the Source again.")
    const renewed = {
      ...source,
      hookSecretVersion: source.hookSecretVersion + 1,
      hookSecretCreatedAt: new Date().toISOString()
    }
    world.sources = world.sources.map((each) => (each.id === id ? renewed : each))
    return ok({ source: renewed, hookSecret: `renewed-secret-${renewed.hookSecretVersion}` }, 201)
  }
  if (rest === "sync") return ok({ run: syncOf(world, source) }, 201)
  if (rest === "revisions")
    return ok({
      revisions: {
        branches: [
          { ref: "feature/logs", name: "feature/logs", commit: "b".repeat(40) },
          { ref: "main", name: "main", commit: "c42cbda".padEnd(40, "0") }
        ],
        tags: [{ ref: "v1.2.0", name: "v1.2.0", commit: "a".repeat(40) }],
        commits: [
          { commit: "c42cbda".padEnd(40, "0"), commitDescription: { title: "Logs only", authorName: "Mina Sato" } },
          { commit: "a".repeat(40), commitDescription: { title: "Release it", authorName: "Ren Ito" } }
        ],
        truncated: false
      }
    })
  if (rest === "snapshots") return ok({ snapshots: own })
  if (rest.endsWith("/file")) {
    if (/readme/i.test(asked.query.get("path") ?? "")) return readmeFile(asked.query.get("path") ?? "")
    return ok({
      kind: "svc.source-snapshot-file@v1",
      sourceSnapshotId: own[0]?.id,
      path: asked.query.get("path"),
      text: world.optionsDocument,
      digest: digest(77),
      sizeBytes: new TextEncoder().encode(world.optionsDocument).byteLength
    })
  }
  if (rest.endsWith("/install-modules")) {
    const module = (path: string) => ({
      path,
      status: "supported",
      providerPackages: report.providerPackages,
      rootProviderRequirements: report.rootProviderRequirements,
      findings: []
    })
    return ok({
      status: "ready",
      sourceSnapshotId: own[0]?.id,
      scopePath: ".",
      modules: ["modules/network", "modules/queue", "modules/service"].map(module)
    })
  }
  if (rest === "compatibility-check") {
    return ok(
      {
        run: addRun(world, { type: "compatibility_check", status: "succeeded" }),
        compatibilityReport: { ...world.report, modulePath: textField(asked.body, "modulePath") }
      },
      201
    )
  }
  return missing
}
