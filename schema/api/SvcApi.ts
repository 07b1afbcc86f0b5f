import { HttpApi } from "effect/http-api"
import { AccountTokensApi } from "./AccountTokensApi.ts"
import { ActionConfirmationsApi } from "./ActionConfirmationsApi.ts"
import { AgentPoolsApi } from "./AgentPoolsApi.ts"
import { ApprovalsApi } from "./ApprovalsApi.ts"
import { AuditApi } from "./AuditApi.ts"
import { BackupImportsApi } from "./BackupImportsApi.ts"
import { BackupsApi } from "./BackupsApi.ts"
import { CapsulesApi } from "./CapsulesApi.ts"
import { ChangeApprovalsApi } from "./ChangeApprovalsApi.ts"
import { CommentsApi } from "./CommentsApi.ts"
import { ConnectionsApi } from "./ConnectionsApi.ts"
import { DashboardApi } from "./DashboardApi.ts"
import { DiscoveryApi } from "./DiscoveryApi.ts"
import { ExportsApi } from "./ExportsApi.ts"
import { InstallPlansApi, RevisionPlansApi } from "./InstallPlansApi.ts"
import { InvitationsApi } from "./InvitationsApi.ts"
import { OrphanedStatesApi } from "./OrphanedStatesApi.ts"
import { MembersApi } from "./MembersApi.ts"
import { Authorization, BodyLimits, Envelope } from "./Middleware.ts"
import { NoticesApi } from "./NoticesApi.ts"
import { PullRequestsApi } from "./PullRequestsApi.ts"
import { RunsApi } from "./RunsApi.ts"
import { SourcesApi } from "./SourcesApi.ts"
import { StateResourcesApi } from "./StateResourcesApi.ts"
import { StateUploadsApi } from "./StateUploadsApi.ts"
import { TeamsApi } from "./TeamsApi.ts"
import { WorkspacesApi } from "./WorkspacesApi.ts"

/** The definition of the JSON API. The routes, their part of the OpenAPI document and the typed client are derived from it. */
export class SvcApi extends HttpApi.make("svc")
  .add(DiscoveryApi)
  .add(AccountTokensApi)
  .add(WorkspacesApi)
  .add(AuditApi)
  .add(MembersApi)
  .add(InvitationsApi)
  .add(TeamsApi)
  .add(ApprovalsApi)
  .add(InstallPlansApi)
  .add(StateUploadsApi)
  .add(StateResourcesApi)
  .add(RevisionPlansApi)
  .add(CapsulesApi)
  .add(OrphanedStatesApi)
  .add(BackupsApi)
  .add(BackupImportsApi)
  .add(ExportsApi)
  .add(ActionConfirmationsApi)
  .add(SourcesApi)
  .add(PullRequestsApi)
  .add(RunsApi)
  .add(CommentsApi)
  .add(ChangeApprovalsApi)
  .add(AgentPoolsApi)
  .add(ConnectionsApi)
  .add(NoticesApi)
  .add(DashboardApi)
  .middleware(BodyLimits)
  .middleware(Authorization)
  .middleware(Envelope)
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" }) {}
