import { extensions } from "../../../../schema/api/Extensions.ts"
import { storefrontId } from "../records/Capsules.ts"
import { oauthHelpers, recipes } from "../records/Connections.ts"
import { installConfig } from "../records/InstallConfigs.ts"
import { me } from "../records/People.ts"
import { waitingUpdate } from "../records/RunGroups.ts"
import { discovery, workspaceId, workspaces } from "../records/Workspaces.ts"
import { accountRoute, authRoute } from "./AccountRoutes.ts"
import { type Answer, type Asked, missing, ok, refuse } from "./Answer.ts"
import { backupFileRoute } from "./BackupRoutes.ts"
import { capsuleRoute, revisionPlan } from "./CapsuleRoutes.ts"
import { connectionRoute } from "./ConnectionRoutes.ts"
import { pullRequestRoute } from "./PullRequestRoutes.ts"
import { latestRuns, runRoute } from "./RunRoutes.ts"
import { shareRoute } from "./SharingRoutes.ts"
import { signInRoute } from "./SignInRoutes.ts"
import { sourceListRoute, sourceRoute } from "./SourceRoutes.ts"
import { installPlan, needsRoute, overview, workspaceRoute } from "./WorkspaceRoutes.ts"
import { type World, addRun } from "./World.ts"

/** Returns the response to one request, and applies the request's effect to the world. */
export const answer = (world: World, asked: Asked): Answer => {
  const { path } = asked
  if (path === "/api/v1/capabilities") return ok(discovery(asked.origin))
  if (path === "/api/v1/extensions") {
    const off: ReadonlyArray<string> = world.familiesOff
    return ok({ extensions: extensions.map((family) => ({ ...family, enabled: !off.includes(family.name) })) })
  }
  if (path.startsWith("/auth/") || path.startsWith("/api/v1/invitations/")) {
    return signInRoute(world, asked) ?? authRoute(world, path, asked)
  }
  if (!world.signedIn) return refuse(401, "unauthenticated", "Sign in first.")
  const parts = path.replace("/api/v1/", "").split("/")
  const [kind = "", id = "", ...rest] = parts
  const tail = rest.length === 0 ? undefined : rest.join("/")
  if (path === "/api/v1/dashboard/bootstrap") {
    return ok({
      subject: { id: me, email: "mina@acme.example", displayName: "Mina Sato" },
      workspaces: workspaces.map((each) =>
        each.id === workspaceId && world.automationPause !== undefined
          ? { ...each, automationPause: world.automationPause }
          : each
      ),
      selectedWorkspaceId: workspaceId,
      capabilities: discovery(asked.origin),
      version: "0.1.0",
      sendsMail: true,
      sampleRepository: `${asked.origin}/samples/hello.git`
    })
  }
  if (path === "/api/v1/dashboard/overview") return overview(world)
  if (path === "/api/v1/dashboard/needs") return needsRoute(world, asked.query)
  if (path === "/api/v1/dashboard/latest-runs") return latestRuns(world, asked.query)
  if (kind === "account") return accountRoute([id, ...rest].join("/"), asked)
  if (kind === "workspaces" && tail !== undefined) return workspaceRoute(world, tail, asked)
  if (kind === "runs") return runRoute(world, id, tail, asked)
  if (kind === "pull-requests") return pullRequestRoute(world, id, tail, asked)
  if (kind === "run-groups") return ok({ runGroup: waitingUpdate, runs: [] })
  if (kind === "revision-plans") return ok({ revisionPlan: revisionPlan(id, "reviewable", "review_run") })
  if (kind === "backups") return backupFileRoute(world, id, tail, asked)
  if (kind === "capsules") return capsuleRoute(world, id, tail, asked)
  if (kind === "output-shares") return shareRoute(world, id, tail, asked)
  if (kind === "dependencies") {
    world.dependencies = world.dependencies.filter((each) => each.id !== id)
    return ok(undefined, 204)
  }
  if (kind === "capsule-configs" && id === "") return ok({ capsuleConfigs: world.readyMade })
  if (kind === "capsule-configs") return ok({ capsuleConfig: { ...installConfig, presentation: world.presentation } })
  if (kind === "compatibility-reports") return ok({ compatibilityReport: world.report })
  if (kind === "sources") return id === "" ? sourceListRoute(world, asked) : sourceRoute(world, id, tail, asked)
  if (kind === "connections") return connectionRoute(world, id, tail, asked)
  if (kind === "credential-recipes") return ok({ credentialRecipes: recipes, oauthHelpers })
  if (kind === "install-plans")
    return ok({ installPlan: installPlan("reviewable", "review_run", id.replace("ipl_", "")) })
  if (kind === "state-versions")
    return ok({ run: addRun(world, { type: "plan", status: "queued", capsuleId: storefrontId }) }, 201)
  return missing
}
