import type { CapsulesApi } from "../../../schema/api/CapsulesApi.ts"
import { type GroupProse, queuedRun, route } from "./Prose.ts"
import type { InstallPlansApi, RevisionPlansApi } from "../../../schema/api/InstallPlansApi.ts"
import type { StateResourcesApi } from "../../../schema/api/StateResourcesApi.ts"
import type { StateUploadsApi } from "../../../schema/api/StateUploadsApi.ts"
import type { OrphanedStatesApi } from "../../../schema/api/OrphanedStatesApi.ts"
import type { ExportsApi } from "../../../schema/api/ExportsApi.ts"

export const exportsProse: GroupProse<typeof ExportsApi> = {
  about: "A Capsule as files for continued use without svc.",
  routes: {
    create: route(
      "Export a Capsule",
      "201 with a `link` to an archive for continued use without svc: the unencrypted state, the module at the adopted commit, the dependency lock, the inputs that are not secret, and a README with the commands. **The state contains the secrets of the infrastructure.** `confirm` is the name of the Capsule. `inputsToSupply` lists the inputs that the archive omits.\n\nThe link works only for this session or token, once within ten minutes, and only while the Capsule does not change. The operation history records the export before the response. The service keeps managing the Capsule: release it once the copy manages the infrastructure.\n\nThe server refuses (409) a Capsule that was never applied or was destroyed, a Capsule with a Run in progress (`run_conflict`), and a Capsule whose commit is neither stored nor available from its repository."
    ),
    download: route(
      "Download an export",
      "A `.tar.gz`, streamed. Take the address from `link`; it survives a restart of the server. Every download is in the operation history before its first byte. 404 for a link of another session, token or Capsule, 409 `failed_precondition` after ten minutes, if the link was already used, or if the state has changed; 409 `run_conflict` while a Run is in progress. In these cases, export again."
    )
  }
}

export const orphanedStatesProse: GroupProse<typeof OrphanedStatesApi> = {
  about: "States that a Run left behind.",
  routes: {
    list: route(
      "List left-over states, newest first",
      "States that applies left and that could not become the Capsule's next state: `reason` is `lineage_changed`, `serial_decreased`, `unreadable`, or `unknown` for a state that an earlier release kept. Each state is kept, sealed, until an owner adopts or discards it. Metadata only: no route returns the state itself, because it contains the secrets of the infrastructure in clear text. The operator reads it on the server's machine with `svc admin left-over-states download`. `adoptionProblems` lists the reasons why it cannot be adopted now; `runId` lists the states of one Run."
    ),
    read: route(
      "Read a left-over state",
      "Metadata only. An adopted or discarded state remains readable as evidence, without its contents."
    ),
    adopt: route(
      "Make a left-over state the Capsule's state",
      "Needs `Idempotency-Key`, the guard read from the Capsule, and `confirm` with the Capsule's name. It changes svc's records and no infrastructure, so it needs no plan, review or approval: the owner's confirmation and the audit event take their place. Refused (409) while `adoptionProblems` is not empty: the state must be readable, have the lineage of the current state (if there is a current state) and no older serial, nobody may have decided on it, no Run may be in progress, and the Capsule must have the same state version, generation and epoch as after the apply's settlement.\n\nCommits in one transaction: a StateVersion with `partial` and `adoptedFrom`, the next generation, and its Outputs. An Output is public only if the previous state published the same value under the same name; all other Outputs are sealed. Plans that are not applied yet become `superseded`, and consumers are compared. The Capsule is in `error` (a disabled Capsule stays disabled) with `runtimeSafety` `unknown` and `driftStatus` `unknown` until a plan is applied: plan it next and review the changes."
    ),
    discard: route(
      "Discard a left-over state",
      "Erases the sealed state permanently; its metadata remains, with the person who discarded it and the time. Objects that only this state listed must be found and removed by hand afterwards. A repeated request changes nothing; an adopted state is refused (409)."
    )
  }
}

export const stateUploadsProse: GroupProse<typeof StateUploadsApi> = {
  about: "Existing state that an install takes over.",
  routes: {
    create: route(
      "Upload the state of infrastructure that exists already",
      "Needs `Idempotency-Key`. The body is the state file itself (version 4, as `terraform state pull` or `tofu state pull` writes it), with `Content-Type: application/octet-stream` and at most 32 MiB; a larger file gets 413 before it is read. The state is sealed at once. The server neither logs nor returns any part of it.\n\nOne install can use the upload: send its `id` and `sha256` in `adopt` of an install plan. After an install that fails before its Capsule exists, the upload can be used again. The server erases an upload that is not used within an hour. A Workspace has at most 10 uploads (409).\n\nThe server refuses a body that is not a complete state of version 4 (400 `state_unreadable`), a state that the tool encrypted (400 `state_encrypted`), a state that a newer tool wrote (409 `state_newer`), a lineage that a Capsule of this installation already has (409 `state_lineage_known`), and resources that another Capsule of the Workspace manages (409 `state_resource_managed`)."
    )
  }
}

export const stateResourcesProse: GroupProse<typeof StateResourcesApi> = {
  about: "The resources of a Capsule, without values.",
  routes: {
    list: route(
      "List the resources of the current state, by address",
      "Instances of managed resources, without values. `deposed` is the key of an object that waits to be destroyed after its replacement, and `tainted` marks an object that the tool will replace as damaged. `address` selects resources whose address contains the text, and is case-sensitive. `search` selects resources whose address, type or `id` contains the text, and ignores case. An instance key that is a secret is hidden in the address, as in the plan, and no search finds it. `id` is absent if the state marks it as sensitive, or if it contains or may be a secret. `changedByRunId` and `changedAt` identify the Run that last changed the resource, and `commit` its commit; the Run's record may have been removed after its retention period. `indexed: false` means that nothing can be listed: a state from an earlier release has not been read or checked yet (svc does this in the background after an upgrade), or the tool encrypted it. `stateVersionId` is absent for a Capsule without a state."
    ),
    history: route(
      "List the changes of one resource, newest first",
      "Each change of the resource at `address` with the Run that made it: its commit, who requested and approved its plan, and the names of the attributes that changed, without values. `deposed` selects an object that waits to be destroyed after its replacement; `tainted` means that the tool will replace the object as damaged. `drift`, on the first page only, is the result of the current state's newest drift check for this resource. The history of an address starts with the oldest state that is kept, and is empty for an address that no state contains. It follows moves: `moved` has the `previousAddress`, and the former address has the same history until another resource takes it. `limit` counts periods in which the resource did not change; a period that ended with its removal counts as two events."
    ),
    difference: route(
      "Compare a StateVersion with another one",
      "The differences between this StateVersion and `from`, another StateVersion of the same Capsule, older or newer; without `from`, the previous StateVersion that is kept. Contains names only, never values. A resource that is the same object at another address is `moved`, with its `previousAddress`, and `changedAttributes` if it changed as well. `resources` are paged by address; every page contains all `outputs`. `indexed: false` means that one of the two states cannot be compared: it comes from an earlier release and has not been read yet, or the tool encrypted it."
    )
  }
}

export const revisionPlansProse: GroupProse<typeof RevisionPlansApi> = {
  about: "Moving a Capsule to another revision.",
  routes: {
    create: queuedRun(
      "Plan a Capsule at another ref",
      "Needs `Idempotency-Key`. The Source's default ref and the Capsule's tracked source do not change before an apply. For a ref other than the adopted lane and the default ref, only an owner or admin can open private inputs, Outputs of other Capsules, the state and Connections (403 for anybody else), unless `reviewedRefs` of the Source and `use.refs` of the Connections allow the ref; the Run records it in `openedForRef`. The compatibility report also compares the Capsule's own configuration with that commit, like a check with `installConfigId`.\n\nWith `speculative` the plan only shows what the ref would change: it waits for no review and no other Run of the Capsule, ends `succeeded`, does not affect the Capsule, and cannot be approved or applied (409)."
    ),
    read: route(
      "Read the revision coordinator",
      "`phase` and `nextAction` show its progress; `review_run` comes with `planRunId`. Once the plan has been used, the phase is `applied`. A plan that is void before its apply (superseded by a newer plan or by a change of its inputs, withdrawn or expired) makes the phase `superseded`, with the reason in `diagnostics` (`plan_superseded`, `plan_cancelled`, `plan_expired`) and `nextAction` `plan_again`: create a revision plan of the same ref under a new key."
    ),
    reconcile: route(
      "Advance exactly one step, if a step is due",
      "202 while more steps follow, 200 at the end. The service advances automatically; a repeated request does no harm."
    )
  }
}

export const installPlansProse: GroupProse<typeof InstallPlansApi> = {
  about: "Installing a module as a Capsule.",
  routes: {
    create: queuedRun(
      "Prepare a Source through a reviewable Plan Run",
      "Needs `Idempotency-Key`. `dependencies` lets Outputs of other Capsules, also shared ones, fill inputs of the new Capsule from its first plan on; only owners and admins can send them (403), and each must be ready: its producer is applied and has every required Output (409). 201 for a new plan, 200 with `replayed: true` for the same request under the same key, 409 for a different request. The service advances automatically; `reconcile` requests one step. `variables` are private: they are sealed until the initial commit and never returned. If a manifest describes the module, values are accepted only for the manifest's user inputs and for required variables that it does not mention; names that are derived, use the module's default or are filled by the service are refused. Configuration plans and re-adoption change the manifest's user inputs only.\n\n`adopt` makes an uploaded state the first state of the Capsule, for owners (403). It contains the upload's id and its SHA-256, so that a plan contains no part of the state. Once the module is known, the install fails with the reasons in `diagnostics`: `state_provider_unknown`, `state_address_undeclared` (a resource that the module neither declares nor covers with a `moved` or `removed` block, and that `adopt.undeclared` does not name), `state_lineage_known`, `state_resource_managed`. Nothing is applied automatically: the plan shows what the module would change."
    ),
    read: route(
      "Read the install coordinator",
      "`phase` and `nextAction` show its progress; `review_run` comes with `planRunId`. If that plan becomes void before its apply (superseded, withdrawn or expired), `diagnostics` has the reason (`plan_superseded`, `plan_cancelled`, `plan_expired`) and `nextAction` is `plan_again`: plan the Capsule again, which already has the values. It is `none` once the Capsule has been applied or has ended. Private variables are never returned."
    ),
    reconcile: route(
      "Advance exactly one step, if a step is due",
      "The service advances automatically; a repeated request does no harm."
    )
  }
}

export const capsulesProse: GroupProse<typeof CapsulesApi> = {
  about: "Installed modules: their settings, Outputs, plans and dependencies.",
  routes: {
    read: route("Read a Capsule", "Contains `installConfigReAdoption.authorityGuard`, the guard for guarded changes."),
    update: route(
      "Rename, disable or enable a Capsule, or set what it follows",
      "A disabled Capsule starts no Runs. `autoUpdate.apply` applies a plan of the followed lane automatically if it destroys, replaces and forgets nothing. A reviewed rollback pins the Capsule: `autoUpdate.pinnedBy` contains the person, the time and the reason. The Capsule then follows no commit until somebody sends `autoUpdate.resume`, or, with `resumeOnNewCommit`, until the lane has a new commit. With `pathFilter` (off by default; for repositories of many modules) a commit makes the Capsule stale only if, compared with the applied commit, it changes files of its module, of the local modules that it reaches, or files that these modules read by a literal path. A change of the repository's manifest, a source build, or a module that reads a computed path always makes it stale: `staleReasons[].because` contains the reason. `driftChecks` makes the service compare the state with the real infrastructure automatically, spread over time and always after people's requests; `inherit` follows the Workspace."
    ),
    remove: queuedRun(
      "Create a destroy plan",
      "201 with the destroy-plan Run. A Capsule that was never applied is removed without a Run: 200 with the record, status `destroyed`."
    ),
    release: route(
      "Release a Capsule",
      "Stops managing a Capsule permanently without destroying anything, because its infrastructure is already gone (`infrastructure_gone`) or is now managed elsewhere (`moved_elsewhere`). `confirm` is the Capsule's name. The Capsule becomes `released`, with `release` on the record, and has no more Runs: waiting plans become `superseded`. Refused (409 `run_conflict`) while one of its Runs or revision plans is in progress. State versions, Outputs, Runs, logs and the history remain readable, and the Capsule can still be backed up. Its OAuth client and that client's grants end, its Interfaces and their bindings are retired, and its shares are revoked. Dependencies remain as records but provide no values, and the next plan of a consumer reports the reason; plans of consumers that used its Outputs and are not applied yet become `superseded`. Its generated secrets stay sealed, because the infrastructure may still need them. Its name can be used again. A Capsule that was never applied is removed instead (`DELETE`)."
    ),
    outputs: route("Public Outputs", "Sensitive Outputs are absent."),
    usageSummary: route("Usage aggregate of one Capsule", "Run minutes, applies, bytes of its states and of its logs."),
    stateVersions: route(
      "List StateVersions, newest first",
      "Metadata only; no route returns the state itself. Every apply increments `generation`."
    ),
    autoUpdateDecisions: route(
      "List the decisions of auto-update about snapshots, newest first",
      "`taken`: planned or applied. `waiting`: for a person, because of `reason` (`review`, `destroys`, `configuration`, `pinned`, `automation_paused`, `lane_moved`, `source_stopped`, `approval`, `capsule_not_ready`, `refused`). `skipped`: because of `reason` (`already_applied`, `pinned`, `planned_before`, `lane_moved`, `source_stopped`). `deferred`: decided later (`queue_full`, `automation_paused`). `message` is the description, `runId` is the plan or its apply. Snapshots created while auto-update was off have no decision."
    ),
    dependencies: route("List the dependencies of the Capsule, as producer or consumer", "As producer or as consumer."),
    createDependency: route(
      "Let this Capsule use Outputs of another Capsule",
      "`variable_injection` and `published_output` fill inputs from Outputs; from a Capsule of another Workspace, only Outputs of an active share. `remote_state` lists no Outputs, because it covers all of them. Cycles are refused (409), as is an input that another dependency already fills. Plans of this Capsule that are not applied yet become `superseded`, because they were made without the dependency; the Capsule is `stale` with the reason `input` until the value is applied."
    ),
    removeDependency: route(
      "Delete a dependency",
      "It takes effect at once: unapplied plans of the consumer that received a value through it become `superseded`, approved or not, and the waiting apply of such a plan is refused when it starts. A running apply is not changed. The next plan no longer receives the values; a required input without another value fails it."
    ),
    providerBindings: route(
      "ProviderBinding selection",
      "The Connection for each provider of the root module, by local name and alias."
    ),
    replaceProviderBindings: route("Retired", "Always 405 with `Allow: GET`; use a configuration plan."),
    configs: route(
      "List Capsule configurations",
      "Public projections; private values are never included. The operator's base configurations come first, with `origin` `operator` and `operator.place`: each is used by every install and plan of its modules, and becomes a separate record with the first check of such a module."
    ),
    config: route(
      "Read one configuration",
      "Public projection: private values are never included. Configurations are immutable; a change creates a new configuration. This route also returns a listed base configuration of the operator, until the operator changes it."
    ),
    updateConfig: route("Retired", "Always 405 with `Allow: GET`; use a configuration plan or re-adoption."),
    plan: queuedRun(
      "Create a Plan Run",
      "Uses the newest snapshot of the adopted lane. 201, or 200 with the same Run under the same `Idempotency-Key`.\n\nWith `refreshOnly`, the plan accepts drift: it compares the state with the real infrastructure at the deployed revision, and its apply records the differences in the state without changing any object. It is reviewed, approved and applied like every plan; the plan and its apply have `refreshOnly` and the `purpose` `accept_drift`, and `resourceDrift` and `outputChanges` contain the changes to accept. Status, commit and configuration of the Capsule do not change. 409 for a Capsule that was never applied, whose last apply did not finish, or whose configuration was changed since; apply an ordinary plan first."
    ),
    look: route(
      "Read the ref that a Capsule follows",
      "Reads the Capsule's lane in the repository now and responds once it is read, so that a later plan includes all pushed commits. Everybody who may plan the Capsule may do this, also with a token that is limited to its Project or environment. `commitsAhead` counts the commits since the deployed commit, as far as the server sends its history. Nothing is planned, and no automatic update follows. Concurrent waiting requests share one read. If the ref could not be read, the response has `error`; the next plan then uses the newest snapshot as before. 409 for a Capsule that has ended."
    ),
    configurationPlan: queuedRun(
      "Change the private configuration and plan it",
      "Needs `Idempotency-Key` and the guard read from the Capsule. It never starts an apply. A token with `project:` or `environment:` scopes may bind only Connections that the Capsule already binds (403). For a Capsule with a manifest, `variablePatch` changes only the manifest's user inputs; a variable that the manifest does not declare is 400: commit a manifest that declares it. `interfaceBlueprints` adds Interfaces to a Capsule without a manifest; every Output that is neither sensitive nor ephemeral may feed one, and an Output that the apply keeps private makes its materialisation fail. You may send back the Interfaces that you read."
    ),
    reconcilePlan: queuedRun(
      "Create a plan that reverts changes made outside svc",
      "Plans the deployed revision with the current configuration against the real infrastructure, regardless of newer commits. It is reviewed, approved and applied like every plan; `purpose` of the Run and of its apply is `reconcile`. 409 for a Capsule that was never applied."
    ),
    destroyPlan: queuedRun(
      "Create a destroy-plan Run",
      "201 with a plan that must be reviewed, approved and applied like every plan; nothing is destroyed before that. 200 with the same Run under the same `Idempotency-Key`."
    ),
    driftCheck: queuedRun(
      "Create a drift-check Run",
      "Compares the state with the real infrastructure and changes neither. The result is `drifted` and `resourceDrift` of the Run."
    ),
    backup: queuedRun(
      "Create a sealed Capsule backup",
      "State, Outputs and configuration in a sealed archive on the server."
    ),
    reAdopt: route(
      "Rebind a Capsule to a derived configuration",
      "Needs `Idempotency-Key`. Runs no infrastructure; every older plan is void afterwards. `reviewedUserVariables` is the complete set of inputs that a person may set, except secret inputs; inputs that the manifest does not declare keep their values. A Capsule in `error` is refused (409), with one exception: the tool succeeded in its last apply, that apply's state is current, and only the operator's check afterwards failed (`lifecycle_failed`, `lifecycle_interrupted`). The Capsule then stays in `error` until a fresh plan has been applied."
    )
  }
}
