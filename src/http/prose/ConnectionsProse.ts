import type { ConnectionsApi } from "../../../schema/api/ConnectionsApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const connectionsProse: GroupProse<typeof ConnectionsApi> = {
  about: "Credentials of providers and repositories, and shared Outputs.",
  routes: {
    list: route("List Connections", "Names of variables and files, never their values."),
    create: route(
      "Create a write-only Connection",
      "Values and file contents are sealed and never come back. `origins` of a Git Connection lists the only places that its values are sent to: exact origins, each with an optional path prefix that matches whole segments. They never change afterwards. A Connection of kind `forge` is for pull requests: its `provider` is `github`, `gitlab` or `forgejo`, and its one origin is the address of the website. `providerConfig` and `moduleInputDefaults` are non-secret; credential-shaped fields in them are refused. With `providedBy` the values stay with the agents of a pool, and there are no `values`, `files`, recipe and origins: the operator has given the Workspace what the pool provides under that name (otherwise 409 `failed_precondition`), and only Runs that this pool executes can use it."
    ),
    test: route(
      "Verify a Connection",
      "Opens the sealed values. `tested` is what the test proves: `git_server` when the server of every Source that uses it took them, `forge` when the forge took them and they have the permissions that svc needs in the repository of every Source that names it, `completeness` when no more can be tested without a Run than that they are all there, `pool` when they stay with the agents of a pool and the operator lets the Workspace use them."
    ),
    read: route(
      "Read a Connection",
      "Names of variables and files, never their values. `use` is the rule of who may use it and for what."
    ),
    update: route(
      "Rename, grant, prolong or rotate a Connection",
      "`values` and `files` each replace all of their kind and never come back. They are tested like `POST .../test` before anything is written; then plans that were made with the old ones and are not applied become `superseded`, approved or not, and `version` counts one up. `use` replaces the whole rule: `roles` (a role includes the ones above it), and what it is confined to: `projectIds`, `modules` (`origin` is an origin with an optional path prefix, `path` the module's path in the repository) and `refs` (without them the adopted lane and the Source's default; a plan of another ref has to be started by an owner or admin). `expiresAt` is in the future; `null` removes the limit. Of two changes at once the second may get 409 `guard_conflict`."
    ),
    remove: route(
      "Remove a Connection",
      "409 `failed_precondition` lists the records that still use it: Capsules, Sources, installs and Runs under way. Its values are deleted."
    ),
    confirmOrigins: route(
      "Confirm where a Git Connection may be sent",
      "For a Connection made before it had origins, which is sent nowhere until then. `origins` is the exact list that counts from now on: each is one of `proposedOrigins` or inside one of them; omitted origins remain refused. Confirming is final. When somebody confirmed another list meanwhile: 409 `guard_conflict`; repeating the same list changes nothing."
    ),
    revoke: route(
      "Revoke a Connection",
      "Ends it at once and for good: nothing is given its values from then on. Plans that were made with it and are not applied yet become `superseded`, approved or not, and Runs that need it are blocked. Plans, drift checks and syncs that run with it are asked to stop. A running apply is not stopped: it continues with the values that it received, `runningApplyIds` contains its id, and `cancel` stops it. The sealed values are deleted. While a Run still uses them, a sealed copy is kept for one purpose, to hide the values in the output of the Run, and deleted when the Run ends. Revoking again changes nothing."
    ),
    startOAuth: route(
      "Start an OAuth helper",
      "Returns the address to which the browser is sent. The Connection exists once the person has agreed and returned to the callback: within ten minutes, once, in this session. With `connectionId`, the response gives that Connection new tokens: a rotation, as with `PATCH`. Needs the session of a signed-in person: a token is refused with 403. 501 `capability_not_available` where the operator declares no helper (`oauth-helpers` is not enabled at `GET /api/v1/extensions`); 404 for a helper that is not declared. `GET /api/v1/credential-recipes` lists them."
    ),
    finishOAuth: route(
      "Finish an OAuth helper",
      "The redirect URI that the operator registers at the authorization server, one a helper: a browser comes here with the answer. Other parameters of the server are ignored, and the query is never a 400. The session, the person and the helper have to be those of the start, and the person still an owner or admin of the Workspace: otherwise 403 and no Connection. 409 `failed_precondition` for an unexpected or invalid response; 503 while the server cannot be asked. A browser (`Accept: text/html`) is redirected to the Connections of the Workspace, or sees the reason why no Connection was made."
    ),
    providerConnections: route(
      "ProviderConnections visible to the Workspace",
      "Read-only; Connections are created at `POST /api/v1/connections`."
    ),
    recipes: route(
      "List Credential Recipes",
      "The variables and files that a provider usually needs, for a form. A recipe contains no credential. `oauthHelpers` are the ways in which the operator lets a Connection be made by asking a person at the provider; see `POST /api/v1/connections/oauth/{helperId}/start`."
    ),
    outputShares: route(
      "List OutputShares from or to the Workspace",
      "The receiving side sees a share from its offer on."
    ),
    createOutputShare: route(
      "Offer Outputs to another Workspace",
      "Public Outputs only, under the receiver's aliases. Nothing is readable there until an admin of it approves."
    ),
    approveOutputShare: route(
      "Accept an offered share, on the receiving side",
      "From then on its Capsules may depend on the shared Outputs. An offer of an Output that has become private since, or of a Capsule that has ended, is refused (409) with the reason."
    ),
    revokeOutputShare: route(
      "Revoke a share, on either side",
      "It counts at once. Unapplied plans of the receiving Workspace that received a value through this share become `superseded`, approved or not, and the waiting apply of such a plan is refused when it starts. A running apply is not changed, and applied values remain. The next plan of a Capsule that requires a shared Output fails. The response contains nothing about these plans; the receiving Workspace finds their ids in its audit event."
    )
  }
}
