import type { CapsulesApi } from "../../../schema/api/CapsulesApi.ts"
import { type GroupProse, queuedRun, route } from "./Prose.ts"

export const capsulesProse: GroupProse<typeof CapsulesApi> = {
  about: "Installed modules: their settings, Outputs, plans and dependencies.",
  routes: {
    read: route("Read a Capsule", "Has the `installConfigReAdoption.authorityGuard` of guarded changes."),
    update: route(
      "Rename, disable or enable a Capsule, or set what it follows",
      "A disabled Capsule starts no Runs. `autoUpdate.apply` lets a plan of the followed lane be applied without a person, and only while it destroys, replaces and forgets nothing. A reviewed rollback pins: `autoUpdate.pinnedBy` says who applied it, when and why, and no commit is followed until somebody sends `autoUpdate.resume`, or, where `resumeOnNewCommit` was chosen, the lane stands at another commit than it did then. With `pathFilter` (off by default; for repositories of many modules) a commit makes the Capsule stale only where it touches the files of its module, of the local modules that it reaches, or files that they read by a plain path; compared with the applied commit. A change of the repository's manifest, a source build, and a module that reads a path which is computed, always do: `staleReasons[].because` says what counted. `driftChecks` makes the service compare the state with the real infrastructure by itself, spread over time and always behind what a person asked for; `inherit` follows the Workspace."
    ),
    remove: queuedRun(
      "Create a destroy plan",
      "201 with the destroy-plan Run. A Capsule that was never applied is removed without a Run: 200 with the record, status `destroyed`."
    ),
    release: route(
      "Release a Capsule",
      "Gives a Capsule up for good without destroying anything: its infrastructure is gone already (`infrastructure_gone`) or somebody else looks after it from now on (`moved_elsewhere`). `confirm` is the Capsule's name. The Capsule becomes `released`, with `release` on the record, and has no more Runs: plans that wait become `superseded`. Refused (409 `run_conflict`) while a Run or a revision plan of it is under way. State versions, Outputs, Runs, logs and the history stay readable, and it can still be backed up. Its OAuth client and what was granted to it end, its Interfaces are retired with their bindings, its shares are revoked. Dependencies stay as records, give nothing more, and the next plan of a consumer says why; plans of consumers that used its Outputs and are not applied yet become `superseded`. Its generated secrets stay sealed: what goes on without svc may need them. Its name is free again. A Capsule that was never applied is removed instead (`DELETE`)."
    ),
    outputs: route("Public Outputs", "Sensitive Outputs are absent."),
    usageSummary: route("Usage aggregate of one Capsule", "Run minutes, applies, bytes of its states and of its logs."),
    stateVersions: route(
      "List StateVersions, newest first",
      "Metadata only; the state itself never leaves. `generation` counts up by one with every apply."
    ),
    autoUpdateDecisions: route(
      "What auto-update did about each snapshot, newest first",
      "`taken`: planned or applied. `waiting`: for a person, because of `reason` (`review`, `destroys`, `configuration`, `pinned`, `automation_paused`, `lane_moved`, `source_stopped`, `approval`, `capsule_not_ready`, `refused`). `skipped`: because of `reason` (`already_applied`, `pinned`, `planned_before`, `lane_moved`, `source_stopped`). `deferred`: taken up later (`queue_full`, `automation_paused`). `message` says it in words, `runId` names the plan or its apply. Snapshots that came while auto-update was off have no decision."
    ),
    dependencies: route("List dependencies in which the Capsule takes part", "As producer or as consumer."),
    createDependency: route(
      "Let this Capsule take Outputs of another one",
      "`variable_injection` and `published_output` fill inputs from Outputs; from a Capsule of another Workspace only what an active share gives. `remote_state` names no Outputs: all of them count. Cycles are refused (409), and so is an input that a dependency fills already. Plans of this Capsule that are not applied yet were made without it and become `superseded`; the Capsule is `stale` with the reason `input` until it was applied with the value."
    ),
    removeDependency: route(
      "Delete a dependency",
      "It counts at once: plans of the consumer that were given a value through it and are not applied yet become `superseded`, approved or not, and an apply of one that still waits is refused when it starts; an apply that runs is not touched. The next plan no longer receives the values; a required input without another value fails it."
    ),
    providerBindings: route(
      "ProviderBinding selection",
      "Which Connection serves which provider of the root module, by local name and alias."
    ),
    replaceProviderBindings: route("Retired", "Always 405 with `Allow: GET`; use a configuration plan."),
    configs: route(
      "List Capsule configurations",
      "Public projections; private values are never included. The operator's base configurations come first, with `origin` `operator` and `operator.place`: each is used by every install and plan of the modules it names, and becomes a record of its own with the first check of such a module."
    ),
    config: route(
      "Read one configuration",
      "Public projection: private values are never included. Configurations are immutable; a change makes a new one. A listed base configuration of the operator is read here too, until the operator changes it."
    ),
    updateConfig: route("Retired", "Always 405 with `Allow: GET`; use a configuration plan or re-adoption."),
    plan: queuedRun(
      "Create a Plan Run",
      "Uses the newest snapshot of the adopted lane. 201, or 200 with the same Run under the same `Idempotency-Key`."
    ),
    configurationPlan: queuedRun(
      "Change the private configuration and plan it",
      "Needs `Idempotency-Key` and the guard read from the Capsule. Apply is never started. A token with `project:` or `environment:` scopes may bind only Connections that the Capsule already binds (403). Of a Capsule with a manifest, `variablePatch` changes only the manifest's user inputs; a variable that the manifest does not declare is 400: commit a manifest that declares it. `interfaceBlueprints` adds Interfaces to a Capsule without a manifest; every Output that is neither sensitive nor ephemeral may feed one, and an Output that the apply keeps private makes its materialisation fail. The Interfaces that were read may be sent back."
    ),
    reconcilePlan: queuedRun(
      "Create a plan that puts back what was changed outside",
      "Plans the deployed revision with the present configuration against the real infrastructure, whatever newer commits there are, and is reviewed, approved and applied like every plan; `purpose` of the Run and of its apply is `reconcile`. 409 for a Capsule that was never applied."
    ),
    destroyPlan: queuedRun(
      "Create a destroy-plan Run",
      "201 with a plan that has to be reviewed, approved and applied like every other; until then nothing is destroyed. 200 with the same Run under the same `Idempotency-Key`."
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
      "Needs `Idempotency-Key`. Runs no infrastructure; every older plan is void afterwards. `reviewedUserVariables` is the complete set of the inputs that a person may set, without the secret ones; what the manifest does not declare keeps its value. A Capsule in `error` is refused (409), with one exception: its last apply succeeded with the tool, its state is the current one, and only a check of the operator after it failed (`lifecycle_failed`, `lifecycle_interrupted`). The Capsule then stays in `error` until a fresh plan has been applied."
    )
  }
}
