import type { Mutant } from "./Mutant.ts"

/** Guards in one file, all covered by one test, keyed by name. */
const guardsOf = (
  file: string,
  test: string,
  guards: Readonly<Record<string, readonly [text: string, broken: string]>>
): ReadonlyArray<Mutant> => Object.entries(guards).map(([name, [text, broken]]) => ({ name, file, text, broken, test }))

/** Mutants of decisions that are pure functions, each with a table test that needs no database. */
export const decisionMutants: ReadonlyArray<Mutant> = [
  ...guardsOf("actors/ledger/capsule/ApplyObstacle.ts", "test/actors/ledger/capsule/ApplyObstacle.test.ts", {
    "obstacle: only plans": ["if (!isPlan(plan.type)) return", "if (plan.type === null) return"],
    "obstacle: a plan serves once": ["plan.used_by_run_id !== null", "plan.used_by_run_id === plan.type"],
    "obstacle: the end of the plan": ["plan.expires_at <= at", "plan.expires_at < at"],
    "obstacle: a Capsule in service": ["if (!isInService(capsule.status))", "if (capsule.status === null)"],
    "obstacle: authority": ["if (authorityMoved(plan, capsule))", "if (plan.type === capsule.status)"]
  }),
  ...guardsOf("actors/commands/run/ReviewDecisions.ts", "test/actors/commands/run/ReviewDecisions.test.ts", {
    "approval: only plans": ["if (!isPlan(run.type)) return", "if (run.type === null) return"],
    "approval: the plan that was read": ["reviewedDigest !== run.plan_digest", "run.plan_digest === null"],
    "approval: what waits": [`(run.status !== "waiting_approval" && !isShort) ||`, ""],
    "approval: before its end": ["run.expires_at <= at", "run.expires_at < at"],
    "cancel: an approval": [
      `status === "succeeded" && approved_at !== null ? "withdraw`,
      `status === "succeeded" ? "withdraw`
    ]
  }),
  ...guardsOf("actors/running/execution/AcceptedDrift.ts", "test/actors/running/execution/AcceptedDrift.test.ts", {
    "accepted drift: what was applied": ["|| capsule.adopted_snapshot_id === null", ""],
    "accepted drift: a complete state": ["if (base.partial === 1)", "if (base.partial === null)"],
    "accepted drift: the applied configuration": [
      "base.install_config_id === capsule.install_config_id",
      "base.install_config_id !== null"
    ]
  }),
  ...guardsOf("src/dashboard/screens/run/LookFirst.ts", "test/dashboard/LookFirst.test.ts", {
    "look first: a wildcard": [`text === "*" ||`, ""],
    "look first: a statement that denies": [`if (value["Effect"] === "Deny" ||`, `if (value["Effect"] === "Never" ||`],
    "look first: access from everywhere": ["&& !outgoing.test(key)", "&& outgoing.test(key)"],
    "look first: what is lost": ["const removal = isRemoval(kind) ?", "const removal = isRemoval(kind) && false ?"],
    "look first: an Output that becomes public": [
      `publication?.change === "published"`,
      `publication?.change === "withdrawn"`
    ]
  }),
  ...guardsOf("actors/running/agent-pool/AgentFit.ts", "test/actors/running/agent-pool/AgentFit.test.ts", {
    "agent: a plan of the state alone": [
      "!facts.capabilities.includes(need.capability)",
      "facts.capabilities.length === 0"
    ]
  }),
  ...guardsOf("actors/ledger/run/CoordinatorSteps.ts", "test/actors/ledger/run/CoordinatorSteps.test.ts", {
    "coordinator: only success leads on": [
      `"wait"\n  return run.status === "succeeded" ? "advance"`,
      `"wait"\n  return run.status !== null ? "advance"`
    ],
    "coordinator: a plan that is computed": [
      `|| run.status === "queued" || run.status === "running"`,
      `|| run.status === "queued"`
    ],
    "coordinator: a plan that failed": [
      `|| run.approved_at !== null ? "advance"`,
      `|| run.status === "failed" ? "advance"`
    ]
  }),
  ...guardsOf(
    "actors/commands/capsule/FollowedPlanDecision.ts",
    "test/actors/commands/capsule/FollowedPlanDecision.test.ts",
    {
      "followed: who opted in": [
        "capsule.auto_update_enabled !== 1 || capsule.auto_update_apply !== 1",
        "capsule.auto_update_enabled !== 1"
      ],
      "followed: what would be destroyed": ["summary.destroy + summary.replace", "summary.replace"],
      "followed: what would be replaced": ["summary.replace + summary.forget", "summary.forget"],
      "followed: what would be forgotten": [" + summary.forget", ""],
      "followed: a configuration that was applied": [
        "appliedConfigId !== plan.install_config_id",
        "plan.install_config_id === null"
      ],
      "followed: a pin": ["if (isPinned(capsule))", "if (summary === undefined)"],
      "followed: where the lane stands": ["laneCommit !== plan.resolved_commit", "plan.resolved_commit === null"],
      "followed: automation that is paused": ["automationRefusal === undefined ?", "automationRefusal !== null ?"]
    }
  ),
  ...guardsOf("actors/commands/capsule/CapsuleSettings.ts", "test/actors/commands/capsule/CapsuleSettings.test.ts", {
    "settings: only what is disabled is enabled": [
      `if (capsule.status !== "disabled") {`,
      `if (capsule.status === "pending") {`
    ],
    "settings: unknown safety comes back as an error": [`capsule.runtime_safety === "unknown"`, "wanted === undefined"],
    "settings: applies need auto-update": ["return apply && !enabled", "return apply && capsule === null"],
    "settings: off is off for applies": [
      "(enabled && capsule.auto_update_apply === 1)",
      "capsule.auto_update_apply === 1"
    ]
  }),
  ...guardsOf("actors/commands/capsule/DependencyOrder.ts", "test/actors/commands/capsule/DependencyOrder.test.ts", {
    "order: producers first": [
      "if (edge.consumer === id) place(edge.producer)",
      "if (edge.producer === id) place(edge.consumer)"
    ]
  }),
  ...guardsOf("actors/access/account/SignInMethods.ts", "test/actors/access/account/SignInMethods.test.ts", {
    "sign-in method: the provider that is offered": [
      "bare(offered.upstreamIssuer) === bare(issuer)",
      "bare(issuer) !== ''"
    ],
    "sign-in method: passkeys that are offered": ["return offered.passkeys", "return true"]
  }),
  ...guardsOf("actors/access/account/PasskeyChallenges.ts", "test/actors/access/account/PasskeyChallenges.test.ts", {
    "passkey: a frame of another site": [
      "Schema.optionalKey(Schema.Literal(false))",
      "Schema.optionalKey(Schema.Boolean)"
    ],
    "passkey: the page around the frame": [
      "topOrigin: Schema.optionalKey(Schema.Never)",
      "topOrigin: Schema.optionalKey(Schema.String)"
    ]
  }),
  ...guardsOf("actors/access/account/TokenAuthority.ts", "test/actors/access/account/StoredToken.test.ts", {
    "stored token: an open account": [`&& row.user_status === "active"`, ""],
    "stored token: its Workspace": ["row.workspace_id === null ? {}", "row.workspace_id !== null ? {}"]
  }),
  ...guardsOf("actors/ledger/source/WebhookSignature.ts", "test/actors/ledger/source/WebhookSignature.test.ts", {
    "hook: a proof": ["if (secrets.length + signatures.length === 0 && standard === undefined) return undefined", ""],
    "hook: every proof is right": ["return !verdicts.includes(false)", "return verdicts.includes(true)"],
    "hook: its signature": ["sameText(secret, value, signature)", "sameText(secret, signature, signature)"],
    "hook: its standard signature": [
      "sameText(secret, value, standardSignature)",
      "sameText(secret, standardSignature, standardSignature)"
    ],
    "hook: its secret": ["sameText(secret, value, secret)", "sameText(secret, secret, secret)"]
  }),
  ...guardsOf("actors/ledger/source/SourceStore.ts", "test/actors/ledger/source/HookSecret.test.ts", {
    "hook: the secret before a renewal ends": [
      "const isOver = until === null || until <= (yield* now)",
      "const isOver = until === null"
    ],
    "hook: a secret that somebody knows ends": [
      "former_hook_secret: endFormerNow ? null : yield* vault.seal(formerPlace(row), former ?? current),\n          former_hook_secret_until: endFormerNow ? null : until",
      "former_hook_secret: yield* vault.seal(formerPlace(row), former ?? current),\n          former_hook_secret_until: until"
    ]
  }),
  ...guardsOf("actors/commands/source/SourcesLive.ts", "test/actors/ledger/source/HookSecret.test.ts", {
    "hook: the new secret ends the former": [
      "if (proven === valid.current && row.former_hook_secret !== null) {",
      "if (proven !== valid.current && row.former_hook_secret !== null) {"
    ],
    "hook: valid secrets alone": [
      "if (row === undefined || proven === undefined || !isValid) {",
      "if (row === undefined || proven === undefined) {"
    ]
  }),
  ...guardsOf("actors/access/issuer/RedirectUris.ts", "test/actors/access/issuer/RedirectUris.test.ts", {
    "redirect: fragments": [`if (text.includes("#"))`, `if (url.hash !== "")`],
    "redirect: schemes that browsers run": ["if (forbiddenSchemes.has(url.protocol))", `if (url.protocol === "")`],
    "redirect: http outside loopback": [
      `if (url.protocol === "http:") return "uses`,
      `if (url.protocol === "") return "uses`
    ],
    "redirect: the port of native clients and of localhost alone": [
      `type === "native" || (isLocalhost(registered)`,
      `true || (isLocalhost(registered)`
    ],
    "redirect: a port that localhost is registered with": [
      " && loopbackPattern.exec(registered)?.[2] === undefined",
      ""
    ],
    "redirect: the path behind the port": ["`${match[1]}${match[3]}`", "match[1]"]
  }),
  ...guardsOf(
    "actors/running/execution/ProviderObstacle.ts",
    "test/actors/running/execution/ProviderObstacle.test.ts",
    {
      "provider: denied by the operator": [
        "normaliseProviderAddress(name) === provider",
        "name === requirement.provider"
      ]
    }
  ),
  ...guardsOf(
    "actors/ledger/configuration/VariableRules.ts",
    "test/actors/ledger/configuration/VariablePatch.test.ts",
    {
      "patch: required inputs stay": ["missing.length > 0", "missing.length > 9"]
    }
  ),
  ...guardsOf("actors/access/issuer/AuthorizationCodes.ts", "test/actors/access/issuer/Pkce.test.ts", {
    "pkce: the verifier": ["timingSafeEqual(Buffer.from(made), Buffer.from(challenge))", "made !== verifier"],
    "pkce: its characters": [
      "if (!verifierPattern.test(verifier)) return false",
      "if (verifier === challenge) return true"
    ]
  }),
  ...guardsOf(
    "actors/access/issuer/InterfacePermissions.ts",
    "test/actors/access/issuer/InterfacePermissions.test.ts",
    {
      "permissions: of the own Capsule": ["row.capsule_id === owner.capsuleId", "row.capsule_id !== consumerCapsuleId"],
      "permissions: the operator's policy": ["pair.delivery === delivery && bound", "bound"]
    }
  ),
  ...guardsOf("actors/access/issuer/LiveAuthority.ts", "test/actors/access/issuer/LiveAuthority.test.ts", {
    "activation: of this moment": [
      "owner.activationDigest === activationDigest(authority)",
      "owner.activationDigest !== ''"
    ],
    "activation: a Capsule in service": ["isServing(authority) && ", ""],
    "activation: its Workspace": [" || authority.workspace_id !== owner.workspaceId", ""]
  }),
  ...guardsOf("actors/access/issuer/CapsuleActivation.ts", "test/actors/access/issuer/LiveAuthority.test.ts", {
    "activation: epoch": ["executionAuthorityEpoch: authority.execution_authority_epoch,", ""],
    "activation: configuration": ["installConfigId: authority.install_config_id,", ""],
    "activation: digest of the configuration": ["installConfigDigest: authority.install_config_digest,", ""],
    "activation: snapshot": ["sourceSnapshotId: authority.source_snapshot_id", ""],
    "activation: Capsule": ["capsuleId: authority.capsule_id,", ""]
  }),
  ...guardsOf(
    "actors/inputs/connection/RotatedConnections.ts",
    "test/actors/inputs/connection/RotatedConnections.test.ts",
    {
      "rotation: the version": ["row.version !== (use?.connectionVersion ?? 1)", "row.version === undefined"],
      "rotation: a revoked Connection": [`if (row?.status === "revoked") return connectionRevoked`, ""]
    }
  ),
  ...guardsOf("actors/inputs/connection/TokenLifetime.ts", "test/actors/inputs/connection/TokenLifetime.test.ts", {
    "tokens: renewed in time": ["Math.min(half, Duration.toMillis(longestNotice))", "0"],
    "tokens: not longer than they last": ["> Duration.toMillis(shortestUse)", "> 0"]
  }),
  ...guardsOf(
    "actors/inputs/connection/TokenRenewalDecision.ts",
    "test/actors/inputs/connection/TokenRenewalDecision.test.ts",
    {
      "renewal: the server that issued it": [" || declared.server.issuer !== issuer", ""],
      "renewal: values that were replaced": ["row.version === asked.version && ", ""],
      "renewal: tokens that were replaced": ["row.token_generation === asked.token_generation && ", ""],
      "renewal: a Connection that has ended": [" && isUsable(row.status)", ""],
      "renewal: a lost answer": [`reason !== "unanswered" && `, ""],
      "renewal: an old token": ["isLasting || !stillServes(oauth, at)", "isLasting"]
    }
  ),
  ...guardsOf(
    "actors/inputs/connection/AuthorizationProblem.ts",
    "test/actors/inputs/connection/AuthorizationProblem.test.ts",
    {
      "authorization: the person": ["open.subject === by.subject && ", ""],
      "authorization: the session": [" && open.sessionId === by.sessionId", ""],
      "authorization: the helper": ["if (open.helperId !== helperId) {", `if (helperId === "") {`],
      "authorization: the server": ["return open.issuer === server.issuer\n", `return open.issuer !== ""\n`],
      "authorization: a session that ended": ["if (!facts.isSessionOpen) return", "if (facts === null) return"],
      "authorization: a role that was lost": ["return facts.isManager ?", "return facts.isSessionOpen ?"],
      "authorization: a revoked Connection": [` || row.status === "revoked"`, ""],
      "authorization: a restored Connection": [` || row.status === "unconfirmed"`, ""],
      "authorization: the end of the token": [
        "(oauth.refreshable ? undefined : oauth.accessTokenExpiresAt)",
        "(undefined)"
      ]
    }
  ),
  ...guardsOf(
    "actors/inputs/connection/ConnectionChangeProblem.ts",
    "test/actors/inputs/connection/ConnectionChangeProblem.test.ts",
    {
      "change: a revoked Connection": [`status === "revoked" || `, ""],
      "change: a restored Connection": [` || status === "unconfirmed"`, ""],
      "change: values of a helper": ["if (values !== undefined || files !== undefined)", "if (values !== undefined)"],
      "change: the end of the token": [" || (expiresAt !== null && expiresAt <= ends)", " || expiresAt !== null"],
      "removal: a Connection in use": ["users.length === 0", "users.length >= 0"],
      "revocation: applies go on": [
        "running.filter(({ type }) => !isApply(type))",
        "running.filter(({ type }) => type !== null)"
      ]
    }
  ),
  ...guardsOf(
    "actors/inputs/delivery/InterfaceConsumptionDecision.ts",
    "test/actors/inputs/delivery/InterfaceConsumptionDecision.test.ts",
    {
      "consumption: the operator's policy": ["permissions.every(isAllowed)", "permissions.some(isAllowed)"],
      "consumption: this delivery": [" && allowed.delivery === delivery.type", ""],
      "consumption: one Interface alone": ["return matches.length === 1", "return matches.length >= 1"],
      "consumption: a revoked binding": [`if (binding.status === "revoked") {`, `if (binding.status === "pending") {`],
      "consumption: its permissions": ["binding.permissions === permissionsText(permissions) && ", ""],
      "consumption: the Interface that was reviewed": [" || pinned.interfaceId !== interfaceId", ""],
      "consumption: a person who has left": ["return isMember\n", "return pinned\n"]
    }
  ),
  ...guardsOf(
    "actors/running/execution/ReviewedPlanProblem.ts",
    "test/actors/running/execution/ReviewedPlanProblem.test.ts",
    {
      "reviewed plan: what the operator changed": ["if (moved !== undefined) return", "if (moved === '') return"],
      "reviewed plan: its source build": ["saved.build !== undefined && !hasBuild", "saved.build === null"]
    }
  ),
  ...guardsOf(
    "actors/commands/install-plan/PreflightProblem.ts",
    "test/actors/commands/install-plan/PreflightProblem.test.ts",
    {
      "preflight: its Workspace": ["source?.workspace_id === workspaceId &&", "source !== undefined &&"],
      "preflight: a removed Source": ["source.removed_at === null &&", ""],
      "preflight: a check that succeeded": [`run.status === "succeeded" &&`, ""],
      "preflight: the configuration that was named": ["installConfigId === report.install_config_id", "true"],
      "preflight: the module that was named": [
        "options.modulePath !== report.module_path",
        "options.modulePath === ''"
      ],
      "preflight: the repository that was named": ["isSameRepository(url, snapshot.url) &&", ""]
    }
  ),
  ...guardsOf(
    "actors/inputs/connection/ConnectionOrigins.ts",
    "test/actors/inputs/connection/ConnectionOrigins.test.ts",
    {
      "Connection of Git: its Workspace": ["row.workspace_id !== workspaceId ||", ""],
      "Connection of Git: origins that nobody confirmed": ["if (row.origins === null)\n", "if (row.kind === null)\n"],
      "Connection of Git: where it is sent": ["return isWithinOrigins(origins, url)", "return origins.length > 0"],
      "confirmation: what was proposed": ["if (other !== -1)", "if (other === origins.length)"],
      "confirmation: once": [".symmetricDifference(new Set(confirmed)).size === 0", ".size > 0"]
    }
  ),
  ...guardsOf("actors/ledger/consumption/OfferedOutputs.ts", "test/actors/ledger/consumption/OfferedOutputs.test.ts", {
    "offer: secrets stay in the Workspace": [
      `mode === "variable_injection" && shared === undefined`,
      `mode === "variable_injection"`
    ],
    "offer: secrets are not published": [
      `mode === "variable_injection" && shared === undefined`,
      "shared === undefined"
    ],
    "offer: only what is shared": ["shared === undefined ? from : share?.name", "share?.name ?? from"],
    "offer: a producer that ended": [
      "found === undefined || isEnded(found.status) ? undefined",
      "found === undefined ? undefined"
    ],
    "offer: what its secrets are": [
      "? privacyReason(output)\n            : privacyElsewhere(output, from)",
      "? privacyReason(output)\n            : privacyReason(output)"
    ]
  }),
  ...guardsOf(
    "actors/ledger/consumption/ConsumedOutputs.ts",
    "test/actors/ledger/consumption/ConsumedOutputs.test.ts",
    {
      "consumed: a dependency that was added": [
        "(taken ?? dependencyAdded)",
        "(taken ?? ofDependency[0] ?? consumed[0] ?? unrecorded)"
      ],
      "consumed: what an older release took": [
        "return isOld ? unrecorded",
        "return ofDependency.length > 9 ? unrecorded"
      ]
    }
  ),
  ...guardsOf("actors/ledger/dependency/DependencyRules.ts", "test/actors/ledger/dependency/DependencyRules.test.ts", {
    "dependency: inputs of the service": ["if (!isFillable(input))", "if (at === to)"],
    "dependency: an input once": ["if (taken.has(to))", "if (at === to)"]
  }),
  ...guardsOf("actors/ledger/configuration/InputSource.ts", "test/actors/ledger/configuration/InputSource.test.ts", {
    "input: the operator first": [`if (origin === "operator") return "value"`, ""],
    "input: a dependency before a person": [`if (givers.dependencies.has(name)) return "dependency"\n`, ""],
    "input: what is missing": [`return required ? "missing" : "module"`, `return "module"`]
  }),
  ...guardsOf(
    "actors/ledger/configuration/OperatorAuthority.ts",
    "test/actors/ledger/configuration/OperatorAuthority.test.ts",
    {
      "operator: the base configuration": [
        "config.operator?.digest\n",
        "(config.operator?.digest ?? undefined) && false\n"
      ],
      "operator: the digest of the profile": ["&& now.digest === madeDigest", ""]
    }
  ),
  ...guardsOf("actors/inputs/git/GitConnectionUse.ts", "test/actors/inputs/git/GitConnectionUse.test.ts", {
    "fetch: a default that a member set": [
      "source.default_ref_by_manager === 1 ?",
      "source.default_ref_by_manager !== null ?"
    ],
    "fetch: on whose authority": [`run.trigger_kind === "user"`, "run.created_by !== null"]
  }),
  ...guardsOf("actors/inputs/connection/ConnectionUse.ts", "test/actors/inputs/connection/ReviewedRef.test.ts", {
    "reviewed ref: the lane": ["attempt.lanes.includes(attempt.ref)", "attempt.lanes.length > 0"],
    "reviewed ref: a commit of the lane": ["if (attempt.isOfLane || ", "if ("],
    "reviewed ref: the ref that a rule names": ["attempt.allowed.includes(attempt.ref)", "attempt.allowed.length > 0"],
    "reviewed ref: an owner or admin": ["attempt.isManager && !attempt.automatic", "!attempt.automatic"],
    "reviewed ref: in person": ["attempt.isManager && !attempt.automatic", "attempt.isManager"]
  }),
  ...guardsOf("actors/running/execution/ReviewedRefs.ts", "test/actors/running/execution/ReviewedRefs.test.ts", {
    "reviewed ref: who gave the values": ["AND r.created_by = ${subject}", ""],
    "reviewed ref: the values that were given": ["AND p.install_config_id = ${configId} ", ""],
    "reviewed ref: private inputs": [`["inputs", inputs.length > 0]`, `["inputs", inputs.length < 0]`],
    "reviewed ref: the refusal": ["if (basis === undefined && refused.length > 0)", "if (refused.length < 0)"]
  }),
  ...guardsOf("actors/ledger/source/SnapshotManifest.ts", "test/actors/ledger/source/SnapshotManifest.test.ts", {
    "manifest: what a sync refused": [`return repositoryManifest.status === "valid"`, "return manifestDocument !== ''"],
    "manifest: the folder of the snapshot": ["key.startsWith(`${path}/`)", "key.startsWith(path)"],
    "manifest: the pin of what was not read": [`["refused-manifest", id, `, `["refused-manifest", `]
  }),
  ...guardsOf("schema/manifest/CanonicalPath.ts", "test/schema/manifest/CanonicalPath.test.ts", {
    "path: no way out": [` && segment !== ".."`, ""],
    "path: one spelling": [`path.normalize("NFC") === path &&`, ""],
    "path: encoded separators": ["!encodedSeparator.test(path) &&", ""],
    "path: drives": ["!drivePrefix.test(path) &&", ""],
    "path: backslashes": [String.raw`!path.includes("\\") &&`, ""]
  })
]
