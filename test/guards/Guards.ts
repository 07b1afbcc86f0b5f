/**
 * A line of the code that stands between a caller and what it must not do, the smallest edit that opens it, and the test that
 * notices. `npm run test:guards` breaks them one by one; `Guards.test.ts` keeps the list true to the code.
 */
export interface Guard {
  readonly name: string
  readonly file: string
  /** Exact text, found once in the file. */
  readonly text: string
  readonly broken: string
  readonly test: string
}

const authorization = "test/src/http/AuthorizationTable.test.ts"
const fence = "test/actors/capsule/CapsuleFence.test.ts"
const createApply = "test/actors/capsule/CreateApply.test.ts"
const applyRefusals = "test/actors/capsule/ApplyRefusals.test.ts"
const preparation = "test/actors/execution/RunPreparation.test.ts"

const redactionLines = "test/runner/redaction/Lines.test.ts"
const provisionerOutput = "test/runner/execution/ProvisionerOutput.test.ts"
const openPgp = "test/runner/toolchain/OpenPgp.test.ts"

const authorityFile = "actors/authority/AuthorityColumns.ts"
const obstacleFile = "actors/authority/ApplyObstacle.ts"
const applyFile = "actors/execution/ApplyExecution.ts"
const lifecycleFile = "actors/run/RunLifecycle.ts"
const holdFile = "actors/run/RunHold.ts"
const sequencesFile = "actors/run/RunSequences.ts"
const twoOwners = "test/actors/run/TwoOwners.test.ts"
const preparationFile = "actors/execution/RunPreparation.ts"
const signatureFile = "runner/toolchain/openpgp/OpenPgpSignature.ts"
const keyringFile = "runner/toolchain/openpgp/OpenPgpKeyring.ts"
const providersFile = "actors/execution/ProviderResolutions.ts"

const fenceColumn = (column: string): Guard => ({
  name: `fence: ${column}`,
  file: authorityFile,
  text: `{ column: "${column}", fenced: true`,
  broken: `{ column: "${column}", fenced: false`,
  test: fence
})

export const guards: ReadonlyArray<Guard> = [
  {
    name: "approve: admins only",
    file: "schema/api/Roles.ts",
    text: `"POST /api/v1/runs/:runId/approve": admin(`,
    broken: `"POST /api/v1/runs/:runId/approve": member(`,
    test: authorization
  },
  {
    name: "role of the caller",
    file: "src/http/authorization/Permission.ts",
    text: "roleAtLeast(role, required)",
    broken: "true",
    test: authorization
  },
  {
    name: "token bound to another Workspace",
    file: "src/http/authorization/Permission.ts",
    text: "located.filter((place) => place.workspaceId === bound)",
    broken: "located",
    test: authorization
  },
  {
    name: "scope of a token",
    file: "src/http/authorization/Permission.ts",
    text: "principal.scopes.includes(scope)",
    broken: "true",
    test: authorization
  },
  {
    name: "session instead of a token",
    file: "src/http/authorization/Permission.ts",
    text: `if (wantsSession && principal.credential !== "session") return sessionNeeded`,
    broken: "",
    test: authorization
  },
  {
    name: "archived Workspace",
    file: "src/http/authorization/Admission.ts",
    text: "granted?.archived === true",
    broken: "granted === null",
    test: authorization
  },
  {
    name: "only owners change roles",
    file: "actors/member/Members.ts",
    text: `if (role !== present.role && actor !== "owner")`,
    broken: "if (role !== role)",
    test: "test/src/http/MemberRules.test.ts"
  },
  {
    name: "only owners change owners",
    file: "actors/member/Members.ts",
    text: `if (present.role === "owner" && actor !== "owner")`,
    broken: "if (role !== role)",
    test: "test/src/http/MemberRules.test.ts"
  },
  {
    name: "only owners add owners",
    file: "actors/member/Members.ts",
    text: `if (role === "owner" && actor !== "owner")`,
    broken: "if (role !== role)",
    test: "test/src/http/MemberRules.test.ts"
  },
  ...["id", "status", "execution_authority_epoch", "install_config_id", "current_state_generation"].map(fenceColumn),
  fenceColumn("current_state_version_id"),
  {
    name: "createApply: epoch",
    file: authorityFile,
    text: `, ofRun: "execution_authority_epoch" }`,
    broken: " }",
    test: createApply
  },
  {
    name: "createApply: generation",
    file: authorityFile,
    text: `, ofRun: "base_state_generation" }`,
    broken: " }",
    test: createApply
  },
  {
    name: "createApply: configuration",
    file: authorityFile,
    text: `, ofRun: "install_config_id" }`,
    broken: " }",
    test: createApply
  },
  {
    name: "createApply: authority",
    file: obstacleFile,
    text: "if (authorityMoved(plan, capsule))",
    broken: "if (plan.type === plan.status)",
    test: createApply
  },
  {
    name: "used_by: the lease",
    file: lifecycleFile,
    text: "AND used_by_run_id IS NULL AND",
    broken: "AND",
    test: createApply
  },
  {
    name: "hold: the fence",
    file: holdFile,
    text: "AND owner = ${owner} AND fence = ${fence}`",
    broken: "AND owner = ${owner}`",
    test: twoOwners
  },
  {
    name: "claim: a fence that only grows",
    file: lifecycleFile,
    text: "fence = fence + 1",
    broken: "fence = attempt + 1",
    test: twoOwners
  },
  {
    name: "claim: only what is queued",
    file: lifecycleFile,
    text: "AND status = 'queued' RETURNING *",
    broken: "RETURNING *",
    test: twoOwners
  },
  {
    name: "log: the fence",
    file: sequencesFile,
    text: "sql`id = ${hold.runId} AND fence = ${hold.fence}`",
    broken: "sql`id = ${hold.runId}`",
    test: twoOwners
  },
  {
    name: "log: its end",
    file: sequencesFile,
    text: "AND log_ended_at IS NULL AND last_log_batch = ${batch.number - 1}",
    broken: "AND last_log_batch = ${batch.number - 1}",
    test: twoOwners
  },
  {
    name: "log: a batch once",
    file: sequencesFile,
    text: "AND last_log_batch = ${batch.number - 1} RETURNING",
    broken: "RETURNING",
    test: twoOwners
  },
  {
    name: "events: a batch once",
    file: sequencesFile,
    text: "AND last_event_batch = ${batch.number - 1} RETURNING",
    broken: "RETURNING",
    test: twoOwners
  },
  {
    name: "createApply: expiry by the clock",
    file: obstacleFile,
    text: "plan.expires_at <= at",
    broken: "plan.expires_at === at",
    test: createApply
  },
  {
    name: "createApply: approval",
    file: obstacleFile,
    text: `plan.status !== "succeeded" || plan.approved_at === null`,
    broken: `plan.status !== "succeeded"`,
    test: createApply
  },
  {
    name: "used_by: this apply and no other",
    file: applyFile,
    text: "plan.used_by_run_id !== run.id ||",
    broken: "",
    test: applyRefusals
  },
  {
    name: "apply: approval",
    file: applyFile,
    text: "plan.approved_at === null ||",
    broken: "",
    test: applyRefusals
  },
  {
    name: "apply: superseded plan",
    file: applyFile,
    text: `plan.status !== "succeeded"`,
    broken: "false",
    test: applyRefusals
  },
  {
    name: "tool_changed: flavour",
    file: applyFile,
    text: "tool?.name !== name || tool.version !== version",
    broken: "tool?.version !== version",
    test: applyRefusals
  },
  {
    name: "tool_changed: version",
    file: applyFile,
    text: "tool?.name !== name || tool.version !== version",
    broken: "tool?.name !== name",
    test: applyRefusals
  },
  {
    name: "preparation: authority of an apply",
    file: preparationFile,
    text: "if (moved && isApply(created.type))",
    broken: "if (created.id === capsule.id)",
    test: preparation
  },
  {
    name: "preparation: Outputs that are given no longer",
    file: preparationFile,
    text: `if (lost !== undefined) return yield* blocked("superseded", lost)`,
    broken: "",
    test: preparation
  },
  {
    name: "preparation: archived Workspace",
    file: preparationFile,
    text: "yield* refuseArchived(capsule.workspace_id)",
    broken: `yield* refuseArchived("")`,
    test: preparation
  },
  {
    name: "preparation: disabled Capsule",
    file: preparationFile,
    text: "!isInService(capsule.status)",
    broken: `capsule.status === "destroyed"`,
    test: preparation
  },
  {
    name: "preparation: providers",
    file: preparationFile,
    text: "if (providers.blocked !== undefined)",
    broken: "if (providers.blocked === null)",
    test: preparation
  },
  {
    name: "providers: Connection that is not usable",
    file: providersFile,
    text: "if (!isUsable(status))",
    broken: "if (status === undefined)",
    test: preparation
  },
  {
    name: "providers: revoked Connection",
    file: "actors/connection/ConnectionStore.ts",
    text: `status === "pending" || status === "verified"`,
    broken: `status === "pending" || status === "verified" || status === "revoked"`,
    test: preparation
  },
  {
    name: "providers: Connection that nobody confirmed after a restore",
    file: "actors/connection/ConnectionStore.ts",
    text: `status === "pending" || status === "verified"`,
    broken: `status === "pending" || status === "verified" || status === "unconfirmed"`,
    test: preparation
  },
  {
    name: "providers: expired Connection",
    file: "actors/connection/ConnectionStore.ts",
    text: `row.expires_at <= at ? "expired"`,
    broken: `row.expires_at <= at ? row.status`,
    test: preparation
  },
  {
    name: "providers: Connection of another Workspace",
    file: providersFile,
    text: `row.scope !== "operator" && row.workspace_id !== workspaceId`,
    broken: "row.workspace_id === null",
    test: preparation
  },
  {
    name: "providers: Connection for another provider",
    file: providersFile,
    text: "normalProviderAddress(row.provider) !== provider",
    broken: "row.provider === workspaceId",
    test: preparation
  },
  {
    name: "release signature: expiry of the signature",
    file: signatureFile,
    text: "signature.created + signature.lifetime <= now",
    broken: "signature.lifetime === 0",
    test: openPgp
  },
  {
    name: "release signature: weak hashes",
    file: signatureFile,
    text: `{ 8: "sha256",`,
    broken: `{ 2: "sha1" as HashName, 11: "sha224" as HashName, 1: "md5" as HashName, 8: "sha256",`,
    test: openPgp
  },
  {
    name: "release signature: demands",
    file: signatureFile,
    text: "if (signature.demandsUnknown)",
    broken: "if (signature.type === -1)",
    test: openPgp
  },
  {
    name: "release signature: over binary data",
    file: "runner/toolchain/ReleaseSignature.ts",
    text: "return signature.type === signatureTypes.binary ?",
    broken: "return signature.type >= 0 ?",
    test: openPgp
  },
  {
    name: "release signature: exactly one",
    file: "runner/toolchain/ReleaseSignature.ts",
    text: "packet?.tag !== signatureTag || others.length > 0",
    broken: "packet?.tag !== signatureTag",
    test: openPgp
  },
  {
    name: "release key: revocation",
    file: keyringFile,
    text: `if (revoked) return yield* refuse("The key is revoked.")`,
    broken: "",
    test: openPgp
  },
  {
    name: "release key: expiry",
    file: keyringFile,
    text: `if (isExpired(key, self, now)) return yield* refuse("The key has expired.")`,
    broken: "",
    test: openPgp
  },
  {
    name: "release key: its word about itself",
    file: keyringFile,
    text: "yield* holds(found.signature, key, found.over, now)",
    broken: "",
    test: openPgp
  },
  {
    name: "release key: binding of a subkey",
    file: keyringFile,
    text: "yield* holds(binding, key, over, now)",
    broken: "",
    test: openPgp
  },
  {
    name: "release key: agreement of a subkey",
    file: keyringFile,
    text: "yield* holds(agreed, subkey, over, now)",
    broken: "",
    test: openPgp
  },
  {
    name: "release key: length of RSA",
    file: "runner/toolchain/openpgp/OpenPgpPublicKey.ts",
    text: "const leastModulusBits = 2048",
    broken: "const leastModulusBits = 512",
    test: openPgp
  },
  {
    name: "redaction: a line that shows six characters of a secret waits",
    file: "runner/redaction/RedactionStream.ts",
    text: "Math.min(this.#scanner.held(), lineStart)",
    broken: "lineStart",
    test: redactionLines
  },
  {
    name: "redaction: what waits is hidden when the text ends",
    file: "runner/redaction/RedactionStream.ts",
    text: "if (brokenOff) this.#hideHeld()",
    broken: "",
    test: redactionLines
  },
  {
    name: "redaction: what waits is hidden beyond the bound",
    file: "runner/redaction/RedactionStream.ts",
    text: "    this.#hideHeld()\n    return end",
    broken: "    return end",
    test: redactionLines
  },
  {
    name: "redaction: lines are read on over their breaks",
    file: "runner/redaction/LineText.ts",
    text: "if (!this.#isJoined && open < position)",
    broken: "if (position < 0)",
    test: redactionLines
  },
  {
    name: "redaction: dumps are read by their columns",
    file: "runner/redaction/LineText.ts",
    text: `    this.#dump.line(`,
    broken: `    if (first.position < 0) this.#dump.line(`,
    test: redactionLines
  },
  {
    name: "redaction: a provisioner is one text over its messages",
    file: "runner/execution/MessageReader.ts",
    text: "key: provisionerKey(message.address, message.provisioner), text",
    broken: "key: Math.random().toString(), text",
    test: provisionerOutput
  }
]
