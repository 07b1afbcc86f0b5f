import type { Capsule, Run, RunEvent, Source } from "../../../src/dashboard/api/Types.ts"
import * as records from "./Records.ts"
import * as seeded from "./Runs.ts"

/** The state of one development server. Tests change it directly. */
export interface World {
  signedIn: boolean
  capsules: Array<Capsule>
  runs: Array<Run>
  sources: Array<Source>
  outputs: Array<(typeof records.outputs)[number]>
  connections: Array<(typeof records.connections)[number]>
  presentation: unknown
  dependencies: Array<(typeof records.dependencies)[number]>
  shares: Array<(typeof records.outputShares)[number]>
  backups: Array<(typeof records.backups)[number]>
  optionsDocument: string
  empty: boolean
}

export const newWorld = (): World => ({
  signedIn: true,
  capsules: [...records.capsules],
  runs: [...seeded.runs],
  sources: [...records.sources],
  outputs: [...records.outputs],
  connections: [...records.connections],
  presentation: records.installConfig.presentation,
  dependencies: [...records.dependencies],
  shares: [...records.outputShares],
  backups: [...records.backups],
  optionsDocument: records.optionsDocument,
  empty: false
})

interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly origin: string
  readonly emitEvent: (runId: string, event: Omit<RunEvent, "seq" | "at">) => void
}

interface Answer {
  readonly status: number
  readonly body?: unknown
}

const ok = (body: unknown, status = 200): Answer => ({ status, body })
const refuse = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message, requestId: "req_test" } }
})
const missing = refuse(404, "not_found", "Not found.")

const field = (body: unknown, name: string): unknown =>
  typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined
const textField = (body: unknown, name: string): string | undefined => {
  const value = field(body, name)
  return typeof value === "string" ? value : undefined
}

const replaceRun = (world: World, id: string, change: Partial<Run>): Run | undefined => {
  const index = world.runs.findIndex((run) => run.id === id)
  const run = world.runs[index]
  if (run === undefined) return undefined
  const next = { ...run, ...change }
  world.runs[index] = next
  return next
}

const addRun = (world: World, fields: Partial<Run> & Pick<Run, "type" | "status">): Run => {
  const run = records.baseRun({
    ...fields,
    id: records.newId("run"),
    createdAt: new Date().toISOString(),
    queuedAt: new Date().toISOString()
  })
  world.runs.unshift(run)
  return run
}

const overview = (world: World): Answer => {
  const capsules = world.empty ? [] : world.capsules
  return ok({
    workspace: records.workspaces[0],
    capsules,
    attention: world.empty
      ? []
      : [
          {
            kind: "waiting_approval",
            capsuleId: records.storefrontId,
            capsuleName: "storefront",
            runId: seeded.reviewRun,
            since: records.ago(4)
          },
          {
            kind: "unknown_safety",
            capsuleId: "cap_0000000000000003",
            capsuleName: "billing-database",
            since: records.ago(53)
          },
          {
            kind: "failed",
            capsuleId: "cap_0000000000000003",
            capsuleName: "billing-database",
            runId: seeded.failedRun,
            since: records.ago(53)
          },
          { kind: "drifted", capsuleId: "cap_0000000000000004", capsuleName: "network", since: records.ago(33) },
          { kind: "stale", capsuleId: "cap_0000000000000002", capsuleName: "checkout", since: records.ago(12) }
        ],
    recentRuns: world.empty ? [] : world.runs,
    activity: world.empty ? [] : records.activity
  })
}

const runList = (world: World, query: URLSearchParams): Answer =>
  ok({
    runs: (world.empty ? [] : world.runs).filter(
      (run) =>
        (query.get("capsuleId") === null || run.capsuleId === query.get("capsuleId")) &&
        (query.get("status") === null || run.status === query.get("status")) &&
        (query.get("type") === null || run.type === query.get("type"))
    )
  })

const runRoute = (world: World, id: string, action: string | undefined, asked: Asked): Answer => {
  const run = world.runs.find((each) => each.id === id)
  if (run === undefined) return missing
  if (action === undefined) return ok({ run })
  if (action === "approve") {
    const digest = textField(asked.body, "planDigest")
    if (digest !== undefined && digest !== run.planDigest)
      return refuse(409, "failed_precondition", "The plan digest is not this Run's.")
    const next = replaceRun(world, id, {
      status: "succeeded",
      approvedBy: records.me,
      approvedAt: new Date().toISOString(),
      finishedAt: new Date().toISOString()
    })
    asked.emitEvent(id, { kind: "run.approved", data: {} })
    return ok({ run: next })
  }
  if (action === "apply") {
    const apply = addRun(world, {
      type: run.type === "destroy_plan" ? "destroy_apply" : "apply",
      status: "running",
      planRunId: id,
      startedAt: new Date().toISOString(),
      ...(run.capsuleId === undefined ? {} : { capsuleId: run.capsuleId })
    })
    return ok({ run: apply }, 201)
  }
  if (action === "cancel") {
    const next = replaceRun(world, id, { status: "cancelled", finishedAt: new Date().toISOString() })
    asked.emitEvent(id, { kind: "run.cancelled", data: {} })
    return ok({ run: next })
  }
  return missing
}

const capsuleRoute = (world: World, id: string, action: string | undefined, asked: Asked): Answer => {
  const index = world.capsules.findIndex((each) => each.id === id)
  const capsule = world.capsules[index]
  if (capsule === undefined) return missing
  if (action === undefined && asked.method === "GET") return ok({ capsule })
  if (action === undefined && asked.method === "PATCH") {
    const next = { ...capsule, ...(typeof asked.body === "object" ? asked.body : {}) }
    world.capsules[index] = next
    return ok({ capsule: next })
  }
  const plan = (type: Run["type"]) =>
    ok({ run: addRun(world, { type, status: "queued", capsuleId: id, queue: { position: 0 } }) }, 201)
  if (action === undefined) return plan("destroy_plan")
  if (action === "plan") return plan("plan")
  if (action === "drift-check") return plan("drift_check")
  if (action === "configuration-plans") {
    const run = addRun(world, { type: "plan", status: "queued", capsuleId: id })
    return ok({ replayed: false, targetInstallConfigId: records.newId("icfg"), planRunId: run.id, run }, 201)
  }
  if (action === "outputs") return ok({ outputs: capsule.currentStateVersionId === undefined ? [] : world.outputs })
  if (action === "state-versions")
    return ok({ stateVersions: capsule.currentStateVersionId === undefined ? [] : records.stateVersions })
  if (action === "dependencies" && asked.method === "POST") {
    const made = {
      id: records.newId("dep"),
      workspaceId: records.workspaceId,
      producerCapsuleId: textField(asked.body, "producerCapsuleId") ?? "",
      consumerCapsuleId: id,
      mode: "variable_injection" as const,
      outputs: [{ from: "subnet_ids", to: "subnets", required: true }],
      createdAt: new Date().toISOString()
    }
    world.dependencies.push(made)
    return ok({ dependency: made }, 201)
  }
  if (action === "dependencies")
    return ok({
      dependencies: world.dependencies.filter((each) => [each.consumerCapsuleId, each.producerCapsuleId].includes(id))
    })
  if (action === "provider-bindings")
    return ok({
      providerBindings: [
        {
          provider: "registry.opentofu.org/hashicorp/aws",
          moduleLocalName: "aws",
          connectionId: "conn_0000000000000001"
        }
      ]
    })
  return missing
}

const sourceRoute = (world: World, id: string, rest: string | undefined, asked: Asked): Answer => {
  const source = world.sources.find((each) => each.id === id)
  if (source === undefined) return missing
  const own = records.snapshots.map((snapshot) => ({
    ...snapshot,
    sourceId: id,
    url: source.url,
    ref: source.defaultRef,
    path: source.defaultPath
  }))
  if (rest === undefined) return ok({ source })
  if (rest === "sync") {
    return ok(
      {
        run: addRun(world, {
          type: "source_sync",
          status: "succeeded",
          sourceId: id,
          startedAt: new Date().toISOString(),
          finishedAt: new Date().toISOString()
        })
      },
      201
    )
  }
  if (rest === "snapshots") return ok({ snapshots: own })
  if (rest.endsWith("/file")) {
    return ok({
      sourceSnapshotId: own[0]?.id,
      path: asked.query.get("path"),
      text: world.optionsDocument,
      digest: records.digest(77),
      sizeBytes: new TextEncoder().encode(world.optionsDocument).byteLength
    })
  }
  if (rest.endsWith("/install-modules")) {
    const module = (path: string) => ({
      path,
      status: "supported",
      providerPackages: records.report.providerPackages,
      rootProviderRequirements: records.report.rootProviderRequirements,
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
        compatibilityReport: { ...records.report, modulePath: textField(asked.body, "modulePath") }
      },
      201
    )
  }
  return missing
}

const shareRoute = (world: World, id: string, action: string | undefined, asked: Asked): Answer => {
  if (id === "" && asked.method === "GET") return ok({ outputShares: world.shares })
  const template = world.shares[0]
  if (template === undefined) return missing
  if (id === "") {
    const made = {
      ...records.without(template, "approvedAt", "revokedAt"),
      id: records.newId("oshare"),
      fromWorkspaceId: textField(asked.body, "fromWorkspaceId") ?? "",
      toWorkspaceId: textField(asked.body, "toWorkspaceId") ?? "",
      producerCapsuleId: textField(asked.body, "producerCapsuleId") ?? "",
      status: "pending" as const,
      createdAt: new Date().toISOString()
    }
    world.shares.push(made)
    return ok({ outputShare: made }, 201)
  }
  const status = action === "approve" ? ("active" as const) : ("revoked" as const)
  world.shares = world.shares.map((share) => (share.id === id ? { ...share, status } : share))
  return ok({ outputShare: world.shares.find((share) => share.id === id) })
}

const backupRoute = (world: World, method: string): Answer => {
  if (method === "GET") return ok({ backups: world.backups })
  const made = {
    id: records.newId("bkp"),
    workspaceId: records.workspaceId,
    digest: records.digest(99),
    sizeBytes: 21_000,
    createdByRunId: "run_0000000000000005",
    createdAt: new Date().toISOString()
  }
  world.backups.unshift(made)
  return ok({ backup: made }, 201)
}

const workspaceRoute = (world: World, rest: string, asked: Asked): Answer => {
  if (rest === "backups") return backupRoute(world, asked.method)
  if (rest === "source-ref-resolutions/stable-semver")
    return ok({ tag: "v2.4.1", commit: records.commit(41), version: "2.4.1" })
  if (rest === "capsules") return ok({ capsules: world.empty ? [] : world.capsules })
  if (rest === "runs") return runList(world, asked.query)
  if (rest === "members") return ok({ members: records.members })
  if (rest === "projects") return ok({ projects: [] })
  if (rest === "activity") return ok({ events: world.empty ? [] : records.activity })
  if (rest === "graph") {
    const nodes = world.empty ? [] : world.capsules.slice(0, 7)
    const edges = world.empty
      ? []
      : [
          ["4", "1"],
          ["4", "5"],
          ["4", "3"],
          ["1", "2"],
          ["3", "2"],
          ["6", "2"]
        ]
    return ok({
      nodes: nodes.map(({ id, name, status, environment }) => ({ id, kind: "capsule", name, status, environment })),
      edges: edges.map(([from, to], index) => ({
        id: `dep_${index}`,
        from: `cap_000000000000000${from}`,
        to: `cap_000000000000000${to}`,
        mode: "variable_injection"
      }))
    })
  }
  if (rest === "plan-update" || rest === "drift-check") return ok({ runGroup: {}, runs: [] }, 201)
  if (rest === "install-plans") {
    const run = addRun(world, { type: "plan", status: "queued", capsuleId: records.storefrontId })
    return ok({ replayed: false, installPlan: installPlan("planning", "reconcile", run.id) }, 201)
  }
  return missing
}

const installPlan = (phase: string, nextAction: string, planRunId: string) => ({
  id: `ipl_${planRunId}`,
  workspaceId: records.workspaceId,
  phase,
  nextAction,
  planRunId,
  diagnostics: [],
  createdAt: new Date().toISOString(),
  updatedAt: new Date().toISOString()
})

const accountRoute = (path: string, asked: Asked): Answer => {
  if (path === "tokens" && asked.method === "GET") return ok({ tokens: records.tokens })
  if (path === "tokens/scopes") return ok({ kind: "svc.account-pat-scope-catalog@v1", scopes: records.tokenScopes })
  if (path === "tokens")
    return ok({ token: "svcp_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE", token_record: records.tokens[0] }, 201)
  return ok({ token_record: records.tokens[0] })
}

const authRoute = (world: World, path: string, asked: Asked): Answer => {
  if (path === "/auth/sessions") {
    const session = { method: "password", createdAt: records.ago(900), expiresAt: records.ago(-40_000) }
    return ok({
      sessions: [
        {
          ...session,
          id: "ses_1",
          userAgent: "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36",
          lastSeenAt: records.ago(0),
          current: true
        },
        {
          ...session,
          id: "ses_2",
          method: "passkey",
          userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605.1",
          lastSeenAt: records.ago(2000),
          current: false
        }
      ]
    })
  }
  if (path === "/auth/passkeys") {
    return ok({
      passkeys: [
        { id: "pk_1", name: "work laptop", backedUp: true, createdAt: records.ago(9000), lastUsedAt: records.ago(50) }
      ]
    })
  }
  if (path === "/auth/sign-out") {
    world.signedIn = false
    return ok({})
  }
  if (path === "/auth/setup")
    return textField(asked.body, "secret") === "right-secret"
      ? ok({})
      : refuse(401, "unauthenticated", "The link was used.")
  if (textField(asked.body, "password") !== "correct horse battery")
    return refuse(401, "unauthenticated", "Wrong password.")
  world.signedIn = true
  return ok({})
}

/** The answer to one request, and its effect on the world. */
export const answer = (world: World, asked: Asked): Answer => {
  const { path, method } = asked
  if (path.startsWith("/auth/")) return authRoute(world, path, asked)
  if (!world.signedIn) return refuse(401, "unauthenticated", "Sign in first.")
  const parts = path.replace("/api/v1/", "").split("/")
  const [kind = "", id = "", ...rest] = parts
  const tail = rest.length === 0 ? undefined : rest.join("/")
  if (path === "/api/v1/dashboard/bootstrap") {
    return ok({
      subject: { id: records.me, email: "mina@acme.example", displayName: "Mina Sato" },
      workspaces: records.workspaces,
      selectedWorkspaceId: records.workspaceId,
      capabilities: records.discovery(asked.origin),
      version: "0.1.0"
    })
  }
  if (path === "/api/v1/dashboard/overview") return overview(world)
  if (kind === "account") return accountRoute([id, ...rest].join("/"), asked)
  if (kind === "workspaces" && tail !== undefined) return workspaceRoute(world, tail, asked)
  if (kind === "runs") return runRoute(world, id, tail, asked)
  if (kind === "capsules") return capsuleRoute(world, id, tail, asked)
  if (kind === "output-shares") return shareRoute(world, id, tail, asked)
  if (kind === "dependencies") {
    world.dependencies = world.dependencies.filter((each) => each.id !== id)
    return ok(undefined, 204)
  }
  if (kind === "capsule-configs")
    return ok({ capsuleConfig: { ...records.installConfig, presentation: world.presentation } })
  if (kind === "compatibility-reports") return ok({ compatibilityReport: records.report })
  if (kind === "sources" && id !== "") return sourceRoute(world, id, tail, asked)
  if (kind === "sources" && method === "GET") return ok({ sources: world.empty ? [] : world.sources })
  if (kind === "sources") {
    const source: Source = {
      id: records.newId("src"),
      workspaceId: records.workspaceId,
      name: textField(asked.body, "name") ?? "",
      url: textField(asked.body, "url") ?? "",
      defaultRef: textField(asked.body, "defaultRef") ?? "HEAD",
      defaultPath: textField(asked.body, "defaultPath") ?? ".",
      autoSync: false,
      status: "active",
      createdAt: new Date().toISOString(),
      updatedAt: new Date().toISOString()
    }
    world.sources.push(source)
    return ok({ source, hookSecret: "hook-secret-shown-once" }, 201)
  }
  if (kind === "connections" && method === "GET") return ok({ connections: world.empty ? [] : world.connections })
  if (kind === "connections") {
    const template = records.connections[0]
    if (template === undefined) return missing
    if (id !== "") return ok({ connection: { ...template, id, status: tail === "revoke" ? "revoked" : "verified" } })
    const made = {
      ...template,
      id: records.newId("conn"),
      provider: textField(asked.body, "provider") ?? "",
      displayName: textField(asked.body, "displayName") ?? ""
    }
    world.connections.push(made)
    return ok({ connection: made }, 201)
  }
  if (kind === "credential-recipes") return ok({ credentialRecipes: records.recipes })
  if (kind === "install-plans")
    return ok({ installPlan: installPlan("reviewable", "review_run", id.replace("ipl_", "")) })
  if (kind === "state-versions")
    return ok({ run: addRun(world, { type: "plan", status: "queued", capsuleId: records.storefrontId }) }, 201)
  return missing
}
