import type { PullRequestsApi } from "../../../schema/api/PullRequestsApi.ts"
import type { SourcesApi } from "../../../schema/api/SourcesApi.ts"
import { type GroupProse, queuedRun, route } from "./Prose.ts"

export const sourcesProse: GroupProse<typeof SourcesApi> = {
  about: "Git repositories, their snapshots and compatibility.",
  routes: {
    list: route("List Sources", "A Source is one Git repository of the Workspace."),
    create: route(
      "Create a Source",
      "`hookSecret` is the webhook secret, shown this once. With `firstSync` a sync Run (`intent` `manual_plan`) begins in the same step, and `run` is in the answer; when it may not begin (429 `rate_limited`), no Source is created. `onFailure` decides what happens to the Source if that Run fails or is cancelled: `keep` leaves it, with the error in `lanes`; `remove` removes it as `DELETE` would, even if the client no longer waits, unless another sync or check of it is in progress or has read it, or something uses it by then. Until a sync has read it, the same applies to every later sync. Without `firstSync` nothing is read, and the Source stays."
    ),
    read: route(
      "Read a Source",
      "One that was removed carries `removedAt`. `lanes` contains the default ref and path, and every ref and path that a Capsule was applied from: the commit, the time of the last check and of the last change, the reason why the last check failed and the time of the next scheduled check; `status` is `error` while one of them cannot be fetched. With `autoSync` off, neither a webhook nor the schedule starts a check. The webhook secret is never shown again; `hookSecretVersion` counts its renewals."
    ),
    update: route(
      "Update a Source's metadata",
      "The URL of a Source never changes. `reviewedRefs` replaces the refs, besides the adopted lanes and the default ref, whose plans may open private inputs, Outputs of other Capsules and the state, for any person who starts them; only owners and admins change it (403). `pullRequests` decides what is done with the repository's pull requests: nothing (`off`), a static review that opens nothing private (`static`, the default), or also speculative plans of heads in the same repository (`own_branches`); only owners and admins change it (403). `forgeConnectionId` names the Connection of kind `forge` that comments on them, and `null` takes it away; likewise only owners and admins."
    ),
    remove: route(
      "Remove a Source that nothing uses",
      "For a Source that a mistyped URL or an abandoned install left behind, or whose Capsules have all ended. 409 `failed_precondition` lists the living Capsules and unfinished installs that use it; 409 `run_conflict` contains a sync or check that is queued or running: cancel it first. The webhook secret ends at once (deliveries get the same response as deliveries with a wrong secret), the schedule and postponed syncs end, its Git Connection is detached. Snapshots, reports and the configurations that checks made are deleted, except the snapshots, reports and configurations of Capsules that ended; archives without a snapshot are erased within two days. The record itself is not listed any more, and stays readable with `removedAt`. Every other request to it is 404."
    ),
    renewHookSecret: route(
      "Renew a Source's webhook secret",
      "For a secret that was lost or became known. `hookSecret` is the new one, shown this once (201). The old secret stays valid until a delivery proves the new one, for 24 hours at most; `endFormerNow` ends it at once, for a secret that somebody else knows. A second renewal before that keeps the secret that the Git server has. `hookSecretVersion` is the guard read from the Source: of two people who renew at once the second gets 409 `guard_conflict` instead of a secret that makes the first one's useless. Under the same `Idempotency-Key` a repetition renews nothing and answers 200 without a secret: if the first answer was lost, read the Source and renew again."
    ),
    sync: queuedRun(
      "Create a sync Run",
      "`intent` is `observe` (default) or `manual_plan`. The Run's snapshot is the snapshot of the default ref and path: a separate record that shares the archive of an equal snapshot. The same Run checks every other ref and path that a Capsule was applied from; if one of them cannot be fetched, its error is in `lanes` of the Source and the Run does not fail. `expectedCommit` concerns the default one."
    ),
    revisions: route(
      "List the revisions of a repository",
      "Reads the repository now: at most 200 branches, 200 tags and the newest 30 commits of `ref` (the Source's default ref without it). Nothing is synced or recorded. `ref` of a branch or tag is what a revision plan takes. 409 if the repository cannot be read, or for a disabled Source."
    ),
    snapshots: route(
      "List SourceSnapshots, newest first",
      "A snapshot is one commit, archived with its digest; what the archive leaves out is listed."
    ),
    installModules: route(
      "Modules and provider requirements found by the snapshot scan",
      "`providerPackages` is every package that the module reaches, `rootProviderRequirements` the local names and aliases of its root."
    ),
    file: route(
      "Read one text file of a snapshot",
      "Regular UTF-8 files of at most 128 KiB. The repository manifest (`.well-known/svc.json` of the repository, for every folder of a Source) is refused with 403 `permission_denied`."
    ),
    compatibilityCheck: queuedRun(
      "Check one module of a snapshot",
      "The check runs at once; an unsupported module is a report with status `unsupported`, not an error. `manifest` is the verdict about the repository manifest for this module, `modules` the verdict for each module of the snapshot (`adopted`, `rejected` with its reasons, or `absent`). With `installConfigId`, a configuration of the same Workspace (400 otherwise), the module is checked together with that configuration, by the rules of its plan. The report then has further findings, and `needs_attention` when one of them is a warning: a required input without a value (`configuration_input_missing`), a value for an input that is gone (`configuration_input_removed`), an input of another basic type (`configuration_input_type_changed`), one whose value became a secret or is kept where it was not, or the other way round (`configuration_input_sensitive`, `configuration_input_ephemeral`), a variable that the service could not fill any more (`delivery_target_missing`), a provider requirement that the bindings do not cover (`configuration_provider_unbound`). Bindings that nothing requires any more (`configuration_binding_unused`) and a configuration of another module path (`configuration_of_other_module`) are told as `info`. Findings name inputs and never a value. The `installConfigId` of the report stays the configuration that the check compiled."
    ),
    report: route(
      "Read a compatibility report",
      "Variables, Outputs, providers, findings with file and line, and the manifest's verdict for one module of one snapshot."
    ),
    stableSemver: route(
      "Newest stable SemVer tag of a repository",
      "Only `vX.Y.Z` and `X.Y.Z` count. If the newest version exists in both spellings the answer is 422 `source_ref_ambiguous`."
    )
  }
}

export const pullRequestsProse: GroupProse<typeof PullRequestsApi> = {
  about: "Pull requests of the repositories of Sources.",
  routes: {
    list: route(
      "List pull requests, newest first",
      "A Source's pull requests are found by the refs of its repository, by the schedule and after a webhook, while `autoSync` is on and `pullRequests` is not `off`. At most 100 open ones of a Source are followed, those with the highest numbers. `fork` is `unknown` unless it is proven that the head is in the same repository; `unknown` is treated like `yes`. Lists contain neither `review` nor `capsules`."
    ),
    ofCapsule: route(
      "List the pull requests that touch a Capsule, newest first",
      "Those whose head changes, or may change, files of the Capsule's module, compared as `pathFilter` compares commits."
    ),
    read: route(
      "Read a pull request",
      "`review` is the static review of the present head: it compares the files of the modules that Capsules follow, and starts nothing of the head. `capsules` are the Capsules that follow the base, with the reason why each counts as touched, its plan (`run`) or the reason why it is not planned (`refusal`). Both are absent until the head was fetched and read; `error` has the reason if that failed."
    ),
    plan: route(
      "Plan exactly this commit of a pull request",
      "For owners and admins, who allow a head that the Source's rule does not: every Capsule that it touches gets a speculative plan, which may open private inputs and the state to the code of this commit, with the authority of the caller. Read the review first. `commit` is `headCommit` as you read it: if the head has moved, the answer is 409 `guard_conflict`, and a later push makes the permission void. A second request plans the commit again. 409 `failed_precondition` if the pull request is not open. Audited as `pull_request.plan`."
    )
  }
}
