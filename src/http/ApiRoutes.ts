import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SvcApi } from "../../schema/api/SvcApi.ts"
import { actionConfirmationHandlers } from "./handlers/ActionConfirmationHandlers.ts"
import { agentPoolHandlers } from "./handlers/AgentPoolHandlers.ts"
import { backupImportHandlers } from "./handlers/BackupImportHandlers.ts"
import { backupHandlers } from "./handlers/BackupHandlers.ts"
import { capsuleHandlers } from "./handlers/CapsuleHandlers.ts"
import { changeApprovalHandlers } from "./handlers/ChangeApprovalHandlers.ts"
import { commentHandlers } from "./handlers/CommentHandlers.ts"
import { connectionHandlers } from "./handlers/ConnectionHandlers.ts"
import { dashboardHandlers } from "./handlers/DashboardHandlers.ts"
import { discoveryHandlers } from "./handlers/DiscoveryHandlers.ts"
import { orphanedStateHandlers } from "./handlers/OrphanedStateHandlers.ts"
import { exportHandlers } from "./handlers/ExportHandlers.ts"
import { installPlanHandlers, revisionPlanHandlers } from "./handlers/PlanHandlers.ts"
import { pullRequestHandlers } from "./handlers/PullRequestHandlers.ts"
import { runHandlers } from "./handlers/RunHandlers.ts"
import { stateResourceHandlers } from "./handlers/StateResourceHandlers.ts"
import { stateUploadHandlers } from "./handlers/StateUploadHandlers.ts"
import { sourceHandlers } from "./handlers/SourceHandlers.ts"
import { authorizationLayer } from "./middleware/AuthorizationLayer.ts"
import { bodyLimitsLayer } from "./middleware/BodyLimitsLayer.ts"
import { envelopeLayer } from "./middleware/EnvelopeLayer.ts"

/** Middleware for every API route, with the outermost last: body limits, authorisation and error envelope. */
export const apiMiddleware = Layer.mergeAll(bodyLimitsLayer, authorizationLayer, envelopeLayer)

/** Handlers of the API groups for the core records. Account tokens and Workspaces have separate routes. */
export const spineHandlers = Layer.mergeAll(
  discoveryHandlers,
  installPlanHandlers,
  revisionPlanHandlers,
  capsuleHandlers,
  orphanedStateHandlers,
  stateUploadHandlers,
  stateResourceHandlers,
  backupHandlers,
  backupImportHandlers,
  exportHandlers,
  actionConfirmationHandlers,
  sourceHandlers,
  runHandlers,
  changeApprovalHandlers,
  commentHandlers,
  pullRequestHandlers,
  agentPoolHandlers,
  connectionHandlers,
  dashboardHandlers
)

/** Routes of the API for a router. The composition provides the handlers of the remaining groups. */
export const apiRoutes = HttpApiBuilder.layer(SvcApi).pipe(Layer.provide(spineHandlers))
