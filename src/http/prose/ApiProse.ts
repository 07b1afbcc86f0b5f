import type { SvcApi } from "../../../schema/api/SvcApi.ts"
import { approvalsProse, invitationsProse, membersProse, teamsProse } from "./MembersProse.ts"
import { auditProse, dashboardProse, workspacesProse } from "./WorkspacesProse.ts"
import { backupImportsProse, backupsProse } from "./BackupsProse.ts"
import {
  capsulesProse,
  exportsProse,
  installPlansProse,
  orphanedStatesProse,
  revisionPlansProse,
  stateResourcesProse,
  stateUploadsProse
} from "./CapsulesProse.ts"
import { connectionsProse } from "./ConnectionsProse.ts"
import { noticesProse } from "./NoticesProse.ts"
import { pullRequestsProse, sourcesProse } from "./SourcesProse.ts"
import { changeApprovalsProse, commentsProse, runsProse } from "./RunsProse.ts"
import { type GroupProse, route } from "./Prose.ts"
import type { DiscoveryApi } from "../../../schema/api/DiscoveryApi.ts"
import type { ActionConfirmationsApi } from "../../../schema/api/ActionConfirmationsApi.ts"
import type { AccountTokensApi } from "../../../schema/api/AccountTokensApi.ts"
import type { AgentPoolsApi } from "../../../schema/api/AgentPoolsApi.ts"

const agentPoolsProse: GroupProse<typeof AgentPoolsApi> = {
  about: "Pools of agents, which execute Runs on other machines.",
  routes: {
    list: route(
      "List the pools that a Workspace may use, by name",
      "The operator creates and assigns pools; an execution profile selects the pool of a Run. Without a pool, the control plane executes the Run. `places` and `runs` count the places and Runs of the connected agents, for every Workspace that shares the pool. It returns nothing else about other Workspaces."
    ),
    agents: route(
      "List the agents of a Workspace's pools, by pool and name",
      "The last report of each agent about its machine: version, platform, tools, isolation, labels, places, disk. `status`: `connected`, `draining` (it accepts no new Runs), or `silent` (no message for 45 seconds, or the agent reported its exit). `pool` selects the agents of one pool. Revoked agents are not listed."
    ),
    release: route(
      "Release a Capsule from a lost agent",
      "**This may damage infrastructure.** The tool of the Run may still be working on the agent's machine, and svc cannot stop it: two applies at the same time can damage the infrastructure. `toolIsDead` is your statement that the machine, or the tool on it, is dead. `fence` is the `agent.fence` that you read from the Run; any other fence is refused (409 `guard_conflict`). Refused (409 `failed_precondition`) while messages of the agent arrive: cancel the Run instead.\n\nThe Run ends as if its agent's lease had expired: an apply whose tool was started fails with `agent_lost`, the newest state that the service has is imported, resources that may exist are listed, and the Capsule is in `error` with `runtimeSafety` `unknown`. Later reports of the agent are kept as evidence. Any other Run is queued once more, or fails. Audited as `run.release`."
    )
  }
}

const actionConfirmationsProse: GroupProse<typeof ActionConfirmationsApi> = {
  about: "One action of a token, confirmed by its person in the browser.",
  routes: {
    begin: route(
      "Request a person's confirmation for an action of a token",
      "`action`: `capsule.export` with the id of a Capsule, or `source.hook_secret.renew` with the id of a Source. Show the person `userCode` and `verificationUriComplete`. In the browser, they see the requested action and the token or application that requested it, and approve or deny it in a session in which they have just confirmed their identity. Then send the request with `code` in the header `x-svc-confirmation`.\n\nThe confirmation belongs to this token (or to the grant of an OAuth token), the action and the record, ends after ten minutes, and is used up by the first request that succeeds. At most ten a minute. 409 `failed_precondition` for sessions, and for tokens of automations."
    ),
    poll: route(
      "Read the person's decision",
      "`status`: `pending`, `approved`, `denied`, `used` or `expired`. Poll every `interval` seconds; a faster poll gets 429 and lengthens the interval by two seconds. 404 for the code of another token."
    )
  }
}

const noStore = "Every response carries `Cache-Control: no-store` and `Pragma: no-cache`."

const accountTokensProse: GroupProse<typeof AccountTokensApi> = {
  about: "Personal access tokens of an account.",
  routes: {
    list: route("List personal access tokens", noStore),
    scopes: route("Self-service scope catalogue", noStore),
    create: route("Create a personal access token", `The secret is shown once. ${noStore}`),
    revoke: route("Revoke a personal access token", noStore),
    inventory: route(
      "Versioned inventory of all tokens, active and revoked",
      `Ascending by \`created_at\`, then \`token_id\`; \`total\` is counted before the cursor. Unknown query keys are refused. ${noStore}`
    ),
    current: route(
      "Authority of the presented token",
      `Reads only the bearer of the Authorization header and updates nothing. ${noStore}`
    )
  }
}

const discoveryProse: GroupProse<typeof DiscoveryApi> = {
  about: "Information about this server and its abilities.",
  routes: {
    wellKnown: route("Discovery document", "Clients check `product` first and branch on the capabilities."),
    capabilities: route("The same discovery document, under the API", "Branch on its features, never on a version."),
    extensions: route(
      "Endpoint families beyond the specification",
      "The additional families of this server, each with its endpoints; `endpoints.extensions` of the discovery document is the address of this list. A family that is not listed returns 404, and a family that the operator has turned off returns 501 `capability_not_available`."
    )
  }
}

type Groups = (typeof SvcApi)["groups"]

/**
 * Descriptions of the API's routes. They are separate from the declarations, because clients bundle the declarations and do not
 * need the descriptions.
 */
export const apiProse: { readonly [Id in keyof Groups]: GroupProse<Groups[Id]> } = {
  discovery: discoveryProse,
  accountTokens: accountTokensProse,
  workspaces: workspacesProse,
  audit: auditProse,
  members: membersProse,
  invitations: invitationsProse,
  teams: teamsProse,
  approvals: approvalsProse,
  installPlans: installPlansProse,
  stateUploads: stateUploadsProse,
  stateResources: stateResourcesProse,
  revisionPlans: revisionPlansProse,
  capsules: capsulesProse,
  leftOverStates: orphanedStatesProse,
  backups: backupsProse,
  backupImports: backupImportsProse,
  exports: exportsProse,
  actionConfirmations: actionConfirmationsProse,
  sources: sourcesProse,
  runs: runsProse,
  changeApprovals: changeApprovalsProse,
  comments: commentsProse,
  pullRequests: pullRequestsProse,
  agentPools: agentPoolsProse,
  connections: connectionsProse,
  notices: noticesProse,
  dashboard: dashboardProse
}
