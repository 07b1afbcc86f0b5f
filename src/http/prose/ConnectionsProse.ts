import type { ConnectionsApi } from "../../../schema/api/ConnectionsApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const connectionsProse: GroupProse<typeof ConnectionsApi> = {
  about: "Credentials of providers and repositories, and shared Outputs.",
  routes: {
    list: route("List Connections", "Names of variables and files, never their values."),
    create: route(
      "Create a write-only Connection",
      "Values and file contents are sealed and never returned. `origins` of a Git Connection lists the only places to which its values are sent: exact origins, each with an optional path prefix that matches whole segments. They cannot be changed later. A Connection of kind `forge` is for pull requests: its `provider` is `github`, `gitlab` or `forgejo`, and its one origin is the address of the website. `providerConfig` and `moduleInputDefaults` are non-secret; credential-shaped fields in them are refused. With `providedBy`, the values stay with the agents of a pool, and the request has no `values`, `files`, recipe or origins. The operator must have assigned the pool's credentials of that name to the Workspace (otherwise 409 `failed_precondition`), and only Runs that this pool executes can use them."
    ),
    test: route(
      "Verify a Connection",
      "Opens the sealed values. `tested` is the result that the test proves: `git_server`: the server of every Source that uses them accepts them. `forge`: the forge accepts them, and they have the permissions that svc needs in the repository of every Source that uses the Connection. `completeness`: all values are present, which is all that can be tested without a Run. `pool`: they stay with the agents of a pool, and the operator allows the Workspace to use them."
    ),
    read: route(
      "Read a Connection",
      "Names of variables and files, never their values. `use` is the rule for its users and purposes."
    ),
    update: route(
      "Rename, grant, prolong or rotate a Connection",
      "`values` and `files` each replace all previous values or files, and are never returned. They are tested like `POST .../test` before anything is written; then unapplied plans that were made with the old values become `superseded`, approved or not, and `version` increases by one. `use` replaces the whole rule: `roles` (a role includes the higher roles), and its limits: `projectIds`, `modules` (`origin` is an origin with an optional path prefix, `path` the module's path in the repository) and `refs` (without them the adopted lane and the Source's default; plans of other refs must be started by an owner or admin). `expiresAt` must be in the future; `null` removes the limit. If two changes arrive at the same time, the second may get 409 `guard_conflict`."
    ),
    remove: route(
      "Remove a Connection",
      "409 `failed_precondition` lists the records that still use it: Capsules, Sources, installs and Runs in progress. Its values are deleted."
    ),
    confirmOrigins: route(
      "Confirm where a Git Connection may be sent",
      "For a Connection that was created before Connections had origins, and is sent nowhere until they are confirmed. `origins` is the exact list from now on: each entry is one of `proposedOrigins` or inside it; omitted origins remain refused. A confirmation is final. 409 `guard_conflict` if somebody has confirmed another list since; repeating the same list changes nothing."
    ),
    revoke: route(
      "Revoke a Connection",
      "Ends it immediately and permanently: its values are no longer passed to anything. Plans that were made with it and are not applied yet become `superseded`, approved or not, and Runs that need it are blocked. svc stops plans, drift checks and syncs that are running with it. A running apply continues with the values that it received: `runningApplyIds` contains its id, and `cancel` stops it. The sealed values are deleted. While a Run still uses them, svc keeps a sealed copy, only to hide the values in the Run's output, and deletes it when the Run ends. Revoking again changes nothing."
    ),
    startOAuth: route(
      "Start an OAuth helper",
      "Returns the address for the browser. The Connection exists once the person has given consent and returned to the callback: within ten minutes, once, in this session. With `connectionId`, the response gives that Connection new tokens: a rotation, as with `PATCH`. Needs the session of a signed-in person: a token is refused with 403. 501 `capability_not_available` if the operator declares no helper (`oauth-helpers` is not enabled at `GET /api/v1/extensions`); 404 for a helper that is not declared. `GET /api/v1/credential-recipes` lists them."
    ),
    finishOAuth: route(
      "Finish an OAuth helper",
      "The redirect URI that the operator registers at the authorization server, one for each helper: the browser returns here with the response. Other parameters of the server are ignored, and the query never causes a 400. The session, the person and the helper must be the same as at the start, and the person must still be an owner or admin of the Workspace: otherwise 403 and no Connection. 409 `failed_precondition` for an unexpected or invalid response; 503 if the server is unreachable. A browser (`Accept: text/html`) is redirected to the Connections of the Workspace, or sees the reason why no Connection was made."
    ),
    startGitHubApp: route(
      "Start the registration of a GitHub App",
      "Open `formUrl` in the person's browser: its page sends `manifest` to GitHub at `formAction`, and the person creates the App there. The manifest asks for the least permissions, and for no webhook. The Connection exists once the person has returned to the callback: within ten minutes, once, in this session. Needs the session of a signed-in person: a token is refused with 403. `origin` is the address of GitHub's website, under the operator's network policy; `organization` owns the App, otherwise the person's account."
    ),
    gitHubAppForm: route(
      "Read the form of a started registration",
      "A browser (`Accept: text/html`) gets a page that sends the form to GitHub. The state is that of `formUrl`; reading does not use it up. 403 in another session; 409 `failed_precondition` if no registration is open."
    ),
    finishGitHubApp: route(
      "Finish the registration of a GitHub App",
      "GitHub redirects the browser here with a code, which svc exchanges once for the App's id and private key. The key is sealed in a new Connection of kind `forge` and never returned; svc keeps no other secret of the App. The session and the person must be the same as at the start, and the person must still be an owner or admin of the Workspace: otherwise 403 and no Connection. 409 `failed_precondition` for an unexpected answer, 503 if GitHub is unreachable. Install the App on repositories, then test the Connection. A browser (`Accept: text/html`) is redirected to the Connections of the Workspace, or sees the reason why no Connection was made."
    ),
    providerConnections: route(
      "ProviderConnections visible to the Workspace",
      "Read-only; Connections are created at `POST /api/v1/connections`."
    ),
    recipes: route(
      "List Credential Recipes",
      "The variables and files that a provider usually needs, for a form. A recipe contains no credential. `oauthHelpers` are the operator's helpers that create a Connection with a person's consent at the provider; see `POST /api/v1/connections/oauth/{helperId}/start`."
    ),
    outputShares: route(
      "List OutputShares from or to the Workspace",
      "The receiving side sees a share as soon as it is offered."
    ),
    createOutputShare: route(
      "Offer Outputs to another Workspace",
      "Public Outputs only, under the receiver's aliases. The receiving Workspace can read nothing until one of its admins approves."
    ),
    approveOutputShare: route(
      "Accept an offered share, on the receiving side",
      "From then on its Capsules may depend on the shared Outputs. An offer of an Output that has become private since, or of a Capsule that has ended, is refused (409) with the reason."
    ),
    revokeOutputShare: route(
      "Revoke a share, on either side",
      "It takes effect immediately. Unapplied plans of the receiving Workspace that received a value through this share become `superseded`, approved or not, and the waiting apply of such a plan is refused when it starts. A running apply is not changed, and applied values remain. The next plan of a Capsule that requires a shared Output fails. The response contains nothing about these plans; the receiving Workspace finds their ids in its audit event."
    )
  }
}
