import type { PullRequestsApi } from "../../../schema/api/PullRequestsApi.ts"
import type { SourcesApi } from "../../../schema/api/SourcesApi.ts"
import { type GroupProse, queuedRun, route } from "./Prose.ts"

export const sourcesProse: GroupProse<typeof SourcesApi> = {
  about: "Git repositories, their snapshots and compatibility.",
  routes: {
    list: route("List Sources", "A Source is one Git repository of the Workspace."),
    create: route(
      "Create a Source",
      "`hookSecret` is the webhook secret, shown this once. With `firstSync` a sync Run (`intent` `manual_plan`) begins in the same step, and the response contains `run`; if the Run cannot start (429 `rate_limited`), no Source is created. `onFailure` decides what happens to the Source if that Run fails or is cancelled: `keep` keeps it, with the error in `lanes`; `remove` removes it like `DELETE`, even if the client no longer waits, unless another sync or check of the Source is in progress or has read it, or a record already uses it. The same applies to every later sync until a sync has read the Source. Without `firstSync`, nothing is read, and the Source is kept."
    ),
    read: route(
      "Read a Source",
      "A removed Source has `removedAt`. `lanes` contains the default ref and path, and every ref and path from which a Capsule was applied: the commit, the time of the last check and of the last change, the reason why the last check failed and the time of the next scheduled check; `status` is `error` while one of the lanes cannot be fetched. With `autoSync` off, neither a webhook nor the schedule starts a check. `pullRequestLook` is the last look for pull requests, with the reason if it failed and the number of open ones that are not followed. The webhook secret is never shown again; `hookSecretVersion` counts its renewals."
    ),
    update: route(
      "Update a Source's metadata",
      "The URL of a Source never changes. `reviewedRefs` replaces the list of additional refs (after the adopted lanes and the default ref) whose plans may open private inputs, Outputs of other Capsules and the state, regardless of the person who starts them; only owners and admins change it (403). `pullRequests` selects the handling of the repository's pull requests: none (`off`), a static review that opens nothing private (`static`, the default), or also speculative plans of heads in the same repository (`own_branches`); only owners and admins change it (403). `forgeConnectionId` selects the Connection of kind `forge` that comments on them, and `null` removes it; again only owners and admins."
    ),
    remove: route(
      "Remove a Source that nothing uses",
      "For example, after a mistyped URL or an abandoned install, or once all its Capsules have ended. 409 `failed_precondition` lists the living Capsules and unfinished installs that use it; 409 `run_conflict` contains a queued or running sync or check: cancel it first. The webhook secret ends immediately (later deliveries get the same response as deliveries with a wrong secret), the schedule and postponed syncs end, and its Git Connection is detached. Snapshots, reports and configurations made by checks are deleted, except the snapshots, reports and configurations of ended Capsules; archives without a snapshot are erased within two days. The record is no longer listed, but remains readable with `removedAt`. Every other request to it returns 404."
    ),
    renewHookSecret: route(
      "Renew a Source's webhook secret",
      "For a secret that was lost or disclosed. `hookSecret` is the new secret, shown only in this response (201). The old secret stays valid until a delivery uses the new secret, for at most 24 hours; `endFormerNow` ends a disclosed secret immediately. Until then, a second renewal keeps the secret that the Git server uses. `hookSecretVersion` is the guard read from the Source: if two people renew at the same time, the second request gets 409 `guard_conflict`, so that the first person's secret remains valid. A repetition under the same `Idempotency-Key` renews nothing and returns 200 without a secret: if the first response was lost, read the Source and renew again."
    ),
    sync: queuedRun(
      "Create a sync Run",
      "`intent` is `observe` (default) or `manual_plan`. The Run's snapshot is the snapshot of the default ref and path: a separate record that shares the archive of an equal snapshot. The same Run checks every other ref and path from which a Capsule was applied; if a ref cannot be fetched, its error is in `lanes` of the Source and the Run does not fail. `expectedCommit` applies to the default ref."
    ),
    revisions: route(
      "List the revisions of a repository",
      "Reads the repository now: at most 200 branches, 200 tags and the newest 30 commits of `ref` (the Source's default ref without it). Nothing is synced or recorded. Pass the `ref` of a branch or tag to a revision plan. 409 if the repository cannot be read, or for a disabled Source."
    ),
    snapshots: route(
      "List SourceSnapshots, newest first",
      "A snapshot is one commit, archived with its digest; it lists the files that the archive omits."
    ),
    installModules: route(
      "Modules and provider requirements found by the snapshot scan",
      "`providerPackages` contains every package that the module reaches, and `rootProviderRequirements` the local names and aliases of its root."
    ),
    file: route(
      "Read one text file of a snapshot",
      "Regular UTF-8 files of at most 128 KiB. The repository manifest (`.well-known/svc.json` of the repository, for every folder of a Source) is refused with 403 `permission_denied`."
    ),
    compatibilityCheck: queuedRun(
      "Check one module of a snapshot",
      "The check runs at once; an unsupported module is a report with status `unsupported`, not an error. `manifest` is the verdict about the repository manifest for this module, `modules` the verdict for each module of the snapshot (`adopted`, `rejected` with its reasons, or `absent`). With `installConfigId`, a configuration of the same Workspace (400 otherwise), the module is checked together with that configuration, by the rules of its plan. The report then has further findings, and `needs_attention` when one of them is a warning: a required input without a value (`configuration_input_missing`), a value for an input that is gone (`configuration_input_removed`), an input of another basic type (`configuration_input_type_changed`), an input that changed between sensitive and not sensitive (`configuration_input_sensitive`) or between stored and ephemeral (`configuration_input_ephemeral`), a variable that the service can no longer fill (`delivery_target_missing`), a provider requirement that the bindings do not cover (`configuration_provider_unbound`). Bindings that are no longer required (`configuration_binding_unused`) and a configuration of another module path (`configuration_of_other_module`) are reported as `info`. Findings contain names of inputs, never values. The `installConfigId` of the report remains the configuration that the check compiled."
    ),
    report: route(
      "Read a compatibility report",
      "Variables, Outputs, providers, findings with file and line, and the manifest's verdict for one module of one snapshot."
    ),
    stableSemver: route(
      "Newest stable SemVer tag of a repository",
      "Only `vX.Y.Z` and `X.Y.Z` count. If the newest version exists in both spellings, the response is 422 `source_ref_ambiguous`."
    )
  }
}

export const pullRequestsProse: GroupProse<typeof PullRequestsApi> = {
  about: "Pull requests of the repositories of Sources.",
  routes: {
    list: route(
      "List pull requests, newest first",
      "svc finds a Source's pull requests in the refs of its repository, on schedule and after a webhook, while `autoSync` is on and `pullRequests` is not `off`. It follows at most 100 open pull requests of a Source, those with the highest numbers. `fork` is `unknown` unless it is proven that the head is in the same repository; `unknown` is treated like `yes`. `counts` is the number of touched Capsules by verdict, as in the comment at the forge; after the merge it follows the plans and applies of the lane. Lists contain neither `review` nor `capsules`."
    ),
    ofCapsule: route(
      "List the pull requests that touch a Capsule, newest first",
      "Lists pull requests whose head changes, or may change, files of the Capsule's module. Files are compared as for `pathFilter`."
    ),
    read: route(
      "Read a pull request",
      "`review` is the static review of the current head: it compares the files of the modules that Capsules follow, and runs no code of the head. `capsules` are the Capsules that follow the base, with the reason why each is affected, its plan (`run`) or the reason why it is not planned (`refusal`). A Capsule that is affected also has a `verdict`, the `summary` and the `risks` of its plan, the approvals that it `awaits`, and after the merge the `plan` of the lane with its `apply`. Both are absent until the head was fetched and read; `error` has the reason if that failed."
    ),
    plan: route(
      "Plan exactly this commit of a pull request",
      "Owners and admins can allow a head that the Source's rule does not: every affected Capsule gets a speculative plan, which may open private inputs and the state to the code of this commit, with the authority of the caller. Read the review first. `commit` is the `headCommit` that you read: if the head has moved, the response is 409 `guard_conflict`, and a later push makes the permission void. A second request plans the commit again. 409 `failed_precondition` if the pull request is not open. Audited as `pull_request.plan`."
    )
  }
}
