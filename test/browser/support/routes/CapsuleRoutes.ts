import type { Run } from "../../../../src/dashboard/api/Types.ts"
import { stateVersions, storefrontId } from "../records/Capsules.ts"
import { resourceHistory, resourcePage } from "../records/StateResources.ts"
import { digest, newId } from "../records/Seeds.ts"
import { workspaceId } from "../records/Workspaces.ts"
import { type Answer, type Asked, field, missing, ok, refuse, textField } from "./Answer.ts"
import { orphanedStateRoute } from "./OrphanedStateRoutes.ts"
import { pullRequestList } from "./PullRequestRoutes.ts"
import { type World, addRun } from "./World.ts"

const itsTurn = {
  position: 1,
  pool: "runs",
  reason: "turn",
  message: "Nothing is in its way: it starts when it is its turn."
} satisfies Run["queue"]

export const revisionPlan = (id: string, phase: string, nextAction: string) => ({
  id,
  workspaceId,
  capsuleId: storefrontId,
  ref: "release-2",
  phase,
  nextAction,
  diagnostics: [],
  createdAt: new Date().toISOString(),
  updatedAt: new Date().toISOString()
})

export const capsuleRoute = (world: World, id: string, action: string | undefined, asked: Asked): Answer => {
  const index = world.capsules.findIndex((each) => each.id === id)
  const capsule = world.capsules[index]
  if (capsule === undefined) return missing
  if (action === undefined && asked.method === "GET") return ok({ capsule })
  if (action === "pull-requests") return pullRequestList(world, asked.query, id)
  if (action === undefined && asked.method === "PATCH") {
    const next = { ...capsule, ...(typeof asked.body === "object" ? asked.body : {}) }
    world.capsules[index] = next
    return ok({ capsule: next })
  }
  const plan = (type: Run["type"]) =>
    ok({ run: addRun(world, { type, status: "queued", capsuleId: id, queue: itsTurn }) }, 201)
  if (action === undefined) return plan("destroy_plan")
  if (action === "release") {
    const reason = textField(asked.body, "reason") === "moved_elsewhere" ? "moved_elsewhere" : "infrastructure_gone"
    const released = {
      ...capsule,
      status: "released" as const,
      release: { at: new Date().toISOString(), reason } as const
    }
    world.capsules[index] = released
    return ok({
      capsule: released,
      retiredInterfaceIds: [],
      revokedShareIds: [],
      consumerCapsuleIds: [],
      consumersElsewhere: 0
    })
  }
  if (action === "import-confirmation" && capsule.import !== undefined) {
    const confirmed = {
      ...capsule,
      status: "pending" as const,
      import: { ...capsule.import, confirmedAt: new Date().toISOString() }
    }
    world.capsules[index] = confirmed
    return ok({ capsule: confirmed })
  }
  if (action === "exports" && asked.method === "GET") return ok("an archive")
  if (action === "exports") {
    const exported = {
      capsuleId: id,
      stateVersionId: "sv_0000000000000003",
      resolvedCommit: "4".repeat(40),
      fileName: `svc-export-${capsule.slug}.tar.gz`,
      link: `/api/v1/capsules/${id}/exports/1.sv_0000000000000003.mac`,
      expiresAt: new Date(Date.now() + 600_000).toISOString(),
      inputsToSupply: ["admin_password"]
    }
    return ok({ export: exported }, 201)
  }
  if (action === "revision-plans") {
    const run = addRun(world, { type: "plan", status: "queued", capsuleId: id })
    return ok(
      { revisionPlan: { ...revisionPlan("rpl_0000000000000002", "reviewable", "review_run"), planRunId: run.id } },
      201
    )
  }
  if (action === "look")
    return ok({
      look: {
        runId: newId("run"),
        status: "succeeded",
        ref: "main",
        path: ".",
        resolvedCommit: "c42cbda".padEnd(40, "0"),
        commitDescription: {
          title: "Logs only",
          authorName: "Mina Sato",
          authoredAt: new Date(Date.now() - 60_000).toISOString()
        },
        ...(capsule.adoptedSourceRevision === undefined
          ? {}
          : { deployedCommit: capsule.adoptedSourceRevision.resolvedCommit, commitsAhead: 2 })
      }
    })
  if (action === "plan") return plan("plan")
  if (action === "reconcile-plan") return plan("plan")
  if (action === "drift-check") return plan("drift_check")
  if (action === "configuration-plans") {
    const run = addRun(world, { type: "plan", status: "queued", capsuleId: id })
    return ok({ replayed: false, targetInstallConfigId: newId("icfg"), planRunId: run.id, run }, 201)
  }
  if (action === "install-config-re-adoptions") {
    const guard = textField(field(asked.body, "expected"), "authorityGuard")
    if (guard !== capsule.installConfigReAdoption.authorityGuard)
      return refuse(409, "guard_conflict", "The Capsule has changed since its guard was read.")
    return ok({
      capsule,
      installConfigReAdoption: {
        replayed: false,
        previousInstallConfigId: capsule.installConfigId,
        previousInstallConfigDigest: digest(70),
        targetInstallConfigId: newId("icfg"),
        targetInstallConfigDigest: digest(71),
        sourceSnapshotId: textField(asked.body, "sourceSnapshotId") ?? ""
      }
    })
  }
  if (action === "outputs") return ok({ outputs: capsule.currentStateVersionId === undefined ? [] : world.outputs })
  if (action === "state-versions")
    return ok({ stateVersions: capsule.currentStateVersionId === undefined ? [] : stateVersions })
  if (action === "resources") {
    const { items, nextCursor } = resourcePage(world.resources, asked.query)
    const hasState = capsule.currentStateVersionId !== undefined
    return ok({ resources: hasState ? items : [], indexed: true, ...nextCursor })
  }
  if (action === "resource-history") return ok({ ...resourceHistory(asked.query.get("address")), indexed: true })
  if (action?.startsWith("left-over-states") === true) return orphanedStateRoute(world, capsule, action, asked)
  if (action === "auto-update-decisions") return ok({ decisions: world.decisions })
  if (action === "dependencies" && asked.method === "POST") {
    const made = {
      id: newId("dep"),
      workspaceId,
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
