import { HttpApi, type HttpApiGroup } from "effect/http-api"
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

// These types are written out, because the compiler prints an inferred type with its members in another order each time. The
// published declarations would then differ from build to build.
type Groups = readonly [
  typeof DiscoveryApi,
  typeof AccountTokensApi,
  typeof WorkspacesApi,
  typeof AuditApi,
  typeof MembersApi,
  typeof InvitationsApi,
  typeof TeamsApi,
  typeof ApprovalsApi,
  typeof InstallPlansApi,
  typeof StateUploadsApi,
  typeof StateResourcesApi,
  typeof RevisionPlansApi,
  typeof CapsulesApi,
  typeof OrphanedStatesApi,
  typeof BackupsApi,
  typeof BackupImportsApi,
  typeof ExportsApi,
  typeof ActionConfirmationsApi,
  typeof SourcesApi,
  typeof PullRequestsApi,
  typeof RunsApi,
  typeof CommentsApi,
  typeof ChangeApprovalsApi,
  typeof AgentPoolsApi,
  typeof ConnectionsApi,
  typeof NoticesApi,
  typeof DashboardApi
]

type Guarded<Group> = HttpApiGroup.AddMiddleware<
  HttpApiGroup.AddMiddleware<HttpApiGroup.AddMiddleware<Group, BodyLimits>, Authorization>,
  Envelope
>

const groups: Groups = [
  DiscoveryApi,
  AccountTokensApi,
  WorkspacesApi,
  AuditApi,
  MembersApi,
  InvitationsApi,
  TeamsApi,
  ApprovalsApi,
  InstallPlansApi,
  StateUploadsApi,
  StateResourcesApi,
  RevisionPlansApi,
  CapsulesApi,
  OrphanedStatesApi,
  BackupsApi,
  BackupImportsApi,
  ExportsApi,
  ActionConfirmationsApi,
  SourcesApi,
  PullRequestsApi,
  RunsApi,
  CommentsApi,
  ChangeApprovalsApi,
  AgentPoolsApi,
  ConnectionsApi,
  NoticesApi,
  DashboardApi
]

const api: HttpApi.HttpApi<"svc", Guarded<Groups[number]>> = HttpApi.make("svc")
  .add(...groups)
  .middleware(BodyLimits)
  .middleware(Authorization)
  .middleware(Envelope)
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })

/** The definition of the JSON API. The routes, their part of the OpenAPI document and the typed client are derived from it. */
export class SvcApi extends api {}
